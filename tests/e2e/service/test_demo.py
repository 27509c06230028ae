"""The main job with other people's repositories and agents."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
import yaml

from tests.e2e.demo import agent, agent_of_pods, git, repository, run
from tests.tools import need

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


def test_a_repository_without_commits_is_said(tmp_path: Path) -> None:
    repo = repository(tmp_path / "repo", {})
    ended = run("--repo", str(repo), "--agent", agent(tmp_path, "pathlib.Path('new.txt').write_text('y')"))
    assert (ended.code, ended.result["reason"]) == (1, "empty_repository")


def test_a_fault_that_is_none_is_misuse() -> None:
    ended = run("--fault", "lag,what=nothing")
    assert ended.code == 2
    assert "--fault lag,what=nothing: unknown lag 'nothing'" in ended.stderr


def test_a_folder_that_is_no_repository_is_misuse(tmp_path: Path) -> None:
    assert run("--repo", str(tmp_path)).code == 2


@pytest.fixture
def kubeconfig(tmp_path: Path) -> Iterator[Path]:
    """Of a cluster of our own, as another process."""
    command = [sys.executable, "-m", "tests.k8s.cluster_double", str(tmp_path / "cluster")]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        yield Path(process.stdout.readline().strip())


def test_the_whole_loop_runs_in_pods_of_a_cluster(tmp_path: Path, kubeconfig: Path) -> None:
    repo = repository(tmp_path / "repo", {"value.txt": "wrong"}, run=f"cat value.txt; {CHECK}")
    code = """
    value = pathlib.Path('value.txt')
    value.write_text('right' if value.read_text() == 'first' else 'first')
    print('box', os.environ.get('GREENLOOP_BOX', ''), 'home', pathlib.Path.home())
    """
    where = ["--boxes", "kubernetes", "--kubeconfig", str(kubeconfig), "--box-image", "registry.example/box:1"]
    ended = run(*where, "--host", "127.0.0.1", "--repo", str(repo), "--agent", agent_of_pods(code))
    result = ended.result
    assert (ended.code, result["outcome"], result["attempts"]) == (0, "green", 1), ended.stderr
    assert [turn["trigger"] for turn in result["turns"]] == ["mention", "checks"]
    assert result["default_branch_moved"] is False


def test_boxes_that_do_not_exist_are_refused_by_name() -> None:
    ended = run("--boxes", "docker")
    assert ended.code == 2
    assert "'local'" in ended.stderr and "'kubernetes'" in ended.stderr


NOT_THERE = {
    "current-context": "x",
    "clusters": [{"name": "x", "cluster": {"server": "https://127.0.0.1:9"}}],
    "contexts": [{"name": "x", "context": {"cluster": "x", "user": "x"}}],
    "users": [{"name": "x", "user": {"token": "x"}}],
}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--boxes", "kubernetes"], "--kubeconfig FILE --box-image IMAGE"),
        (["--boxes", "kubernetes", "--box-image", "box:1"], "--kubeconfig FILE --box-image IMAGE"),
        (["--boxes", "kubernetes", "--kubeconfig", "FILE"], "--kubeconfig FILE --box-image IMAGE"),
        (["--kubeconfig", "FILE"], "--boxes kubernetes"),
        (["--boxes", "kubernetes", "--kubeconfig", "FILE", "--box-image", "box:1"], "no namespace for the boxes"),
        (["--boxes", "kubernetes", "--kubeconfig", "none", "--box-image", "box:1"], "--kubeconfig none: "),
    ],
)
def test_a_cluster_that_cannot_be_used_is_refused_in_a_line(tmp_path: Path, arguments: list[str], words: str) -> None:
    (tmp_path / "config").write_text(yaml.safe_dump(NOT_THERE))
    ended = run(*(str(tmp_path / "config") if word == "FILE" else word for word in arguments))
    assert ended.code == 2
    [line] = ended.stderr.strip().splitlines()
    assert words in line
