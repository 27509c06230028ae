"""What has still to come is waited for: runs that a file promises, checks that other pull requests had, and runs that
GitHub starts by nobody's push but ours."""

from pathlib import Path

import pytest

from loops.store.tables import Session
from tests.e2e.acts import RIGHT, asked, comment_says, push
from tests.e2e.checks.test_checks import later
from tests.e2e.house import REPOSITORY, House, house

READY_ONLY = """\
name: CI
on:
  pull_request:
    types: [opened, synchronize, reopened, ready_for_review]
jobs:
  test:
    if: ${{ !github.event.pull_request.draft }}
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: test "$(cat value.txt)" = right
"""
FORMATTER = """\
name: Format
on: {push: {branches: ["greenloop/**"]}}
permissions: {contents: write}
jobs:
  format:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: |
          git config user.name Formatter && git config user.email formatter@example.com
          %s && git add -A && git commit -m "Format" && git push origin "HEAD:$GITHUB_REF" || true
"""
PREVIEW = """\
name: Preview
on: pull_request
jobs:
  deploy:
    runs-on: ubuntu-latest
    environment: preview
    steps:
      - run: "true"
"""
ONCE = "test ! -e formatted && touch formatted"


async def reported(home: House, sha: str | None, state: str = "success", context: str = "ci/other") -> None:
    await home.post("alice", f"statuses/{sha}", {"state": state, "context": context})


async def told(home: House, words: str) -> Session:
    """The session, once what is known of its checks says so."""

    async def look() -> Session | None:
        found = await home.sessions()
        return found[-1] if found and words in str((found[-1].checks or {}).get("explanation")) else None

    return await home.until(look)


async def test_a_run_that_only_a_ready_pull_request_gets_is_waited_for_and_repaired_however_late_it_is(
    tmp_path: Path,
) -> None:
    # GitHub tells whole seconds: the draft's run is older than the moment of being ready only if that is later
    wait = {".github/workflows/ci.yml": READY_ONLY, ".github/greenloop.yml": "checks:\n  settle_seconds: 4\n"}
    async with house(tmp_path, run=None, files=wait) as home:
        home.local.hub.faults.ci_delay(4, event="pull_request.ready_for_review")
        home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: pathlib.Path('other.txt').write_text('x')")
        await asked(home, "make it right")
        session = await home.ended()
        turns = await home.turns()
        (pull,) = await home.get("pulls")
    assert (session.outcome, [turn.kind for turn in turns], pull["draft"]) == ("green", ["issue", "checks"], False)


async def test_a_person_who_makes_the_pull_request_ready_starts_the_same_watch(tmp_path: Path) -> None:
    async with house(tmp_path, run=None, files={".github/workflows/ci.yml": READY_ONLY}) as home:
        home.local.protect(REPOSITORY, "main", ["ci/other"])
        home.local.hub.faults.ci_delay(4, event="pull_request.ready_for_review")
        home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: pathlib.Path('other.txt').write_text('x')")
        await asked(home, "make it right")
        first = await told(home, "ci/other")
        query = "mutation($id: ID!) {markPullRequestReadyForReview(input: {pullRequestId: $id}) {pullRequest {id}}}"
        body = {"query": query, "variables": {"id": first.pull_node_id}}
        answer = await home.http("alice").post("/graphql", json=body)
        assert answer.is_success and "errors" not in answer.json(), answer.text
        await reported(home, first.head_sha)

        async def repaired() -> bool:
            return len([turn for turn in await home.turns() if turn.commit_sha]) == 2

        await home.until(repaired)
        await reported(home, (await home.sessions())[-1].head_sha)
        session = await home.ended()
    assert session.outcome == "green"


async def test_a_check_of_another_system_that_other_pull_requests_had_is_waited_for(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        main = (await home.get("git/ref/heads/main"))["object"]["sha"]
        await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": main})
        await push(home, "other.txt", "x", "topic")
        theirs = await home.post("alice", "pulls", {"title": "Mine", "head": "topic", "base": "main"})
        await reported(home, theirs["head"]["sha"])
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        await comment_says(home, number, "Waiting for `ci/other`, which has to run and has not begun")
        session = await told(home, "ci/other")
        assert session.outcome is None
        await reported(home, session.head_sha)
        assert (await home.ended()).outcome == "green"


async def test_what_is_usual_and_does_not_come_is_waited_for_no_longer_than_what_is_late(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        main = (await home.get("git/ref/heads/main"))["object"]["sha"]
        await reported(home, main)
        home.agent(RIGHT)
        await asked(home, "make it right")
        await told(home, "ci/other")
        await later(home, 0.1)
        assert (await home.ended()).outcome == "no_checks"


@pytest.mark.parametrize("state", ["success", "pending"])
async def test_a_check_that_comes_after_an_end_without_checks_opens_the_watch_again(tmp_path: Path, state: str) -> None:
    async with house(tmp_path, run=None) as home:
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        first = await home.ended()
        assert first.outcome == "no_checks"
        await reported(home, first.head_sha, state)
        if state == "pending":
            await comment_says(home, number, "Waiting for the checks")
            await reported(home, first.head_sha)
        await comment_says(home, number, "Done: all checks are green")
        session = await home.ended()
        assert (session.id, session.outcome, len(await home.turns())) == (first.id, "green", 1)


async def test_a_head_that_a_workflow_pushed_gets_its_checks_by_a_commit_of_ours(tmp_path: Path) -> None:
    files = {".github/workflows/format.yml": FORMATTER % ONCE}
    async with house(tmp_path, files=files) as home:
        home.local.protect(REPOSITORY, "main", ["test"])
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        session = await home.ended()
        commits = await home.get(f"pulls/{session.pull_number}/commits")
        subjects = [each["commit"]["message"].splitlines()[0] for each in commits]
        trees = [each["commit"]["tree"]["sha"] for each in commits]
        await comment_says(home, number, "A workflow pushed this commit with its own `GITHUB_TOKEN`")
    assert (session.outcome, subjects[1:]) == ("green", ["Format", "Start the checks"])
    assert trees[1] == trees[2] != trees[0]


async def test_a_workflow_that_pushes_after_every_push_is_not_followed_for_ever(tmp_path: Path) -> None:
    files = {".github/workflows/format.yml": FORMATTER % "date +%s%N > stamp"}
    async with house(tmp_path, files=files) as home:
        home.local.protect(REPOSITORY, "main", ["test"])
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        session = await home.ended()
        commits = await home.get(f"pulls/{session.pull_number}/commits")
        await comment_says(home, number, "close the pull request and open it again")
    assert (session.status, session.reason) == ("failed", "checks_never_settled")
    assert sum(each["commit"]["message"].startswith("Start the checks") for each in commits) == 2


async def test_a_job_that_waits_for_its_environment_is_told_at_once_and_not_waited_for_for_ever(tmp_path: Path) -> None:
    async with house(tmp_path, files={".github/workflows/deploy.yml": PREVIEW}) as home:
        home.local.guard_environment(REPOSITORY, "preview")
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        await comment_says(home, number, "A person has to approve checks", "`deploy`")
        await later(home, 0.6)
        session = await home.ended()
        await comment_says(home, number, "all checks that count are green", "`deploy` has waited 30 minutes")
    assert session.outcome == "green"
