"""A merge queue tries a pull request together with its base: what is red there is repaired on the pull request."""

from pathlib import Path

from loops.store.tables import Session
from tests.e2e.acts import RIGHT, asked, comment_says, push
from tests.e2e.house import House, house

FILES = {
    "check.sh": 'test "$(cat value.txt)" = right\n',
    ".github/workflows/ci.yml": """\
name: CI
on: {pull_request: null, push: {branches: ["gh-readonly-queue/**"]}}
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: sh check.sh
""",
}
TOGETHER = f"""
if "merge queue" in prompt:
    assert "extra" in pathlib.Path("check.sh").read_text()
    pathlib.Path("extra.txt").write_text("x")
else:
    {RIGHT}
"""


async def queued(home: House, pull: int, head: str) -> str:
    """What a merge queue does first: a branch of its own with the pull request merged into its base."""
    main = (await home.get("git/ref/heads/main"))["object"]["sha"]
    await home.post("alice", "git/refs", {"ref": "refs/heads/scratch", "sha": main})
    merged = await home.post("alice", "merges", {"base": "scratch", "head": head})
    await home.post("alice", "git/refs/heads/scratch", {}, method="DELETE")
    name = f"refs/heads/gh-readonly-queue/main/pr-{pull}-{main}"
    await home.post("alice", "git/refs", {"ref": name, "sha": merged["sha"]})
    return str(merged["sha"])


async def again(home: House, first: Session) -> Session:
    """The session, once it has ended with another head."""

    async def look() -> bool:
        return bool((await home.sessions())[-1].head_sha != first.head_sha)

    await home.until(look)
    return await home.ended()


async def test_a_pull_request_that_is_green_alone_and_red_in_the_queue_is_repaired_together_with_its_base(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, run=None, files=FILES) as home:
        home.agent(TOGETHER)
        number = await asked(home, "make it right")
        first = await home.ended()
        assert first.outcome == "green"
        await push(home, "check.sh", FILES["check.sh"] + "test -e extra.txt\n")
        await queued(home, first.pull_number or 0, first.head_sha or "")
        session = await again(home, first)
        await comment_says(home, number, "all checks are green", "put it there again")
        turns = await home.turns()
        refs = await home.get("git/matching-refs/heads/gh-readonly-queue/")
    assert (session.id, session.outcome, [turn.kind for turn in turns]) == (first.id, "green", ["issue", "checks"])
    assert len(refs) == 1


async def test_a_pull_request_that_passes_in_the_queue_is_nobodys_push_and_no_news(tmp_path: Path) -> None:
    async with house(tmp_path, run=None, files=FILES) as home:
        home.agent(RIGHT)
        await asked(home, "make it right")
        first = await home.ended()
        await queued(home, first.pull_number or 0, first.head_sha or "")
        handled = await home.handled("check_suite", 2)
        session = await home.ended()
    assert [each.reason for each in handled if each.decision != "hint"] == ["a merge queue's own branch"]
    assert (session.outcome, session.head_sha, session.merge_group) == ("green", first.head_sha, None)
