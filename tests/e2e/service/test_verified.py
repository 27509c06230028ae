"""What is verified in the box before it is pushed, from the outside."""

from pathlib import Path

from tests.e2e.demo import agent, finish, repository, start

CHECK = 'test "$(cat value)" = good'
SETTINGS = f"""
setup: "touch made-by-set-up"
verify:
  - test -f made-by-set-up
  - '{CHECK} || {{ echo "value is $(cat value)"; exit 3; }}'
"""


def test_a_failure_that_the_box_reproduces_is_repaired_before_the_one_push(tmp_path: Path) -> None:
    files = {"value": "bad\n", ".github/greenloop.yml": SETTINGS}
    repo = repository(tmp_path / "repo", files, run=CHECK)
    works = """
    tried = subprocess.run(["greenloop-check"], capture_output=True, text=True)
    value = pathlib.Path("value")
    assert tried.returncode == 3 and f"value is {value.read_text().strip()}" in tried.stdout, tried
    value.write_text("good\\n" if "value is better" in prompt else "better\\n")
    """
    ended = finish(start("--repo", str(repo), "--agent", agent(tmp_path, works)))
    assert ended.code == 0, (ended.result, ended.stderr)
    (turn,) = ended.result["turns"]
    assert (turn["verified"], turn["rounds"], turn["changed_files"]) == (True, 2, ["value"])
    assert ended.result["commits"] == 1 and ended.result["attempts"] == 0
    (note,) = ended.result["notes"]
    assert note.startswith("Verified in the box after 2 rounds:") and note.endswith("and failed before.")


def test_a_red_checks_failed_step_is_tried_in_the_box_and_its_repair_verified_before_its_push(tmp_path: Path) -> None:
    files = {"value": "bad\n", ".github/greenloop.yml": "checks: {reproduce: true}\n"}
    repo = repository(tmp_path / "repo", files, run=f'{CHECK} || (echo "value is $(cat value)"; exit 3)')
    works = """
    value = pathlib.Path("value")
    if "greenloop-check" not in prompt:
        value.write_text("worse\\n")
    else:
        tried = subprocess.run(["greenloop-check"], capture_output=True, text=True)
        assert tried.returncode == 3 and f"value is {value.read_text().strip()}" in tried.stdout, tried
        value.write_text("good\\n" if "value is better" in prompt else "better\\n")
    """
    ended = finish(start("--repo", str(repo), "--agent", agent(tmp_path, works)))
    assert ended.code == 0, (ended.result, ended.stderr)
    first, repair = ended.result["turns"]
    assert (first["verified"], first["rounds"]) == (False, 1)
    assert (repair["verified"], repair["rounds"]) == (True, 2)
    assert ended.result["commits"] == 2 and ended.result["attempts"] == 1
