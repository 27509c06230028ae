"""A merge queue tries a pull request together with its base: what is red there is repaired on the pull request."""

from pathlib import Path
from typing import Any

from loops.store.tables import Session
from tests.e2e.acts import RIGHT, asked, comment_says, content, push
from tests.e2e.house import REPOSITORY, House, house

FILES = {
    "check.sh": 'test "$(cat value.txt)" = right\n',
    ".github/workflows/ci.yml": """\
name: CI
on: [pull_request, merge_group]
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


QUEUE: list[dict[str, Any]] = [
    {"type": "merge_queue", "parameters": {"merge_method": "SQUASH"}},
    {"type": "required_status_checks", "parameters": {"required_status_checks": [{"context": "test"}]}},
]
ENQUEUE = "mutation($i: ID!) {enqueuePullRequest(input: {pullRequestId: $i}) {mergeQueueEntry {position}}}"


async def enqueue(home: House, number: int | None) -> None:
    """Alice puts a pull request into the merge queue."""
    pull = await home.get(f"pulls/{number}")
    body = {"query": ENQUEUE, "variables": {"i": pull["node_id"]}}
    answer = (await home.http("alice").post("/graphql", json=body)).json()
    assert answer.get("data", {}).get("enqueuePullRequest"), answer


async def merged(home: House, number: int | None) -> None:
    """Wait until the queue has merged the pull request."""

    async def look() -> bool:
        return bool((await home.get(f"pulls/{number}"))["merged"])

    await home.until(look)


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
        home.local.add_ruleset(REPOSITORY, "queue", ["refs/heads/main"], QUEUE)
        await enqueue(home, first.pull_number)
        session = await again(home, first)
        await comment_says(home, number, "all checks are green", "put it there again")
        turns = await home.turns()
        await enqueue(home, first.pull_number)
        await merged(home, first.pull_number)
        extra = await content(home, "extra.txt", "main")
        refs = await home.get("git/matching-refs/heads/gh-readonly-queue/")
    assert (session.id, session.outcome, [turn.kind for turn in turns]) == (first.id, "green", ["issue", "checks"])
    assert (extra, refs) == ("x", [])


async def test_a_pull_request_that_passes_in_the_queue_is_nobodys_push_and_no_news(tmp_path: Path) -> None:
    async with house(tmp_path, run=None, files=FILES) as home:
        home.local.add_ruleset(REPOSITORY, "queue", ["refs/heads/main"], QUEUE)
        home.agent(RIGHT)
        await asked(home, "make it right")
        first = await home.ended()
        await enqueue(home, first.pull_number)
        await merged(home, first.pull_number)
        handled = await home.handled("check_suite", 2)
        session = await home.ended()
    assert [each.reason for each in handled if each.decision != "hint"] == ["a merge queue's own branch"]
    assert (session.outcome, session.head_sha, session.merge_group) == ("green", first.head_sha, None)
