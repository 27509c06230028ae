"""The main job with other people's repositories and agents."""

from pathlib import Path

import pytest

from tests.e2e.demo import agent, git, repository, run
from tests.tools import need

pytestmark = pytest.mark.timeout(150)

CHECK = 'test "$(cat value.txt)" = right'


@pytest.fixture(autouse=True)
def _git() -> None:
    need("git")


def test_a_change_that_is_right_at_once_ends_green_with_one_commit(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "wrong"}, branch="trunk", run=CHECK)
    before = git(repo, "rev-parse", "HEAD").strip()
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, "pathlib.Path('value.txt').write_text('right')"))
    result = ended.result
    assert (ended.code, result["outcome"], result["attempts"]) == (0, "green", 0), result
    assert [turn["changed_files"] for turn in result["turns"]] == [["value.txt"]]
    assert result["pull_request"]["base"] == "trunk"
    assert result["pull_request"]["draft"] is False
    assert result["pull_request"]["head"].startswith("greenloop/")
    assert result["default_branch_moved"] is False
    assert result["comments"] == 1
    assert git(repo, "rev-parse", "HEAD").strip() == before


def test_red_checks_are_repaired_until_they_are_green(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "wrong"}, run=f"cat value.txt; {CHECK}")
    code = """
    value = pathlib.Path('value.txt')
    words = ['first', 'second', 'right']
    value.write_text(words[words.index(value.read_text()) + 1] if value.read_text() in words else words[0])
    """
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, code))
    result = ended.result
    assert (ended.code, result["outcome"], result["attempts"]) == (0, "green", 2), result
    assert [turn["trigger"] for turn in result["turns"]] == ["mention", "checks", "checks"]
    assert all(turn["commit"] and turn["tree"] for turn in result["turns"])
    assert result["comments"] == 1


def test_at_the_cap_the_session_fails_and_says_what_is_red(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "0"}, run=CHECK)
    code = "value = pathlib.Path('value.txt'); value.write_text(str(int(value.read_text()) + 1))"
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, code), "--cap", "1")
    result = ended.result
    assert (ended.code, result["status"], result["reason"], result["attempts"]) == (1, "failed", "cap_reached", 1)
    assert "`test`" in " ".join(result["notes"])
    assert result["pull_request"]["draft"] is True


def test_an_agent_that_changes_nothing_opens_no_pull_request(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "x"}, run="true")
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, "print('nothing to do')"))
    assert (ended.code, ended.result["outcome"], ended.result["pull_request"]) == (1, "no_changes", None)


def test_an_agent_that_fails_is_said_with_its_last_words(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "x"}, run="true")
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, "sys.exit('the model is unknown')"))
    assert (ended.code, ended.result["reason"]) == (1, "agent_failed: exit code 1")
    assert "the model is unknown" in " ".join(ended.result["notes"])


def test_an_agent_that_hangs_is_ended_at_the_wall_clock(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "x"}, run="true")
    command = agent(tmp_path, "time.sleep(1000)")
    ended = run("--repo", str(repo), "--agent", command, env={"GREENLOOP_TURN_SECONDS": "2"})
    assert (ended.code, ended.result["reason"]) == (1, "limit_exceeded: wall clock")


def test_ten_thousand_changed_files_are_a_limit_and_nothing_is_published(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "x"}, run="true")
    command = agent(tmp_path, "for n in range(10_000): pathlib.Path(f'f{n}').write_text('x')")
    ended = run("--repo", str(repo), "--agent", command)
    assert (ended.code, ended.result["reason"]) == (1, "limit_exceeded: changed files")
    assert ended.result["pull_request"] is None


def test_commits_of_the_agent_itself_make_no_difference(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "wrong"}, run=CHECK)
    code = """
    pathlib.Path('value.txt').write_text('right')
    for words in (['add', '-A'], ['-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'mine [skip ci]']):
        subprocess.run(['git', *words], check=True)
    """
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, code))
    assert (ended.code, ended.result["outcome"], len(ended.result["turns"])) == (0, "green", 1)


def test_a_repository_without_workflows_ends_without_checks(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "x"})
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, "pathlib.Path('new.txt').write_text('y')"))
    assert (ended.code, ended.result["outcome"]) == (1, "no_checks")


def test_a_repository_without_commits_is_said(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {})
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, "pathlib.Path('new.txt').write_text('y')"))
    assert (ended.code, ended.result["reason"]) == (1, "empty_repository")


def test_a_folder_that_is_no_repository_is_misuse(tmp_path: Path) -> None:
    assert run("--repo", str(tmp_path)).code == 2


def test_the_whole_loop_runs_in_pods_of_a_cluster(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "wrong"}, run=f"cat value.txt; {CHECK}")
    code = """
    value = pathlib.Path('value.txt')
    value.write_text('right' if value.read_text() == 'first' else 'first')
    print('box', os.environ.get('GREENLOOP_BOX', ''), 'home', pathlib.Path.home())
    """
    ended = run("--boxes", "kubernetes", "--repo", str(repo), "--agent", agent(tmp_path, code))
    result = ended.result
    assert (ended.code, result["outcome"], result["attempts"]) == (0, "green", 1), ended.stderr
    assert [turn["trigger"] for turn in result["turns"]] == ["mention", "checks"]
    assert result["default_branch_moved"] is False


def test_boxes_that_do_not_exist_are_refused_by_name() -> None:
    ended = run("--boxes", "docker")
    assert ended.code == 2
    assert "'local'" in ended.stderr and "'kubernetes'" in ended.stderr
