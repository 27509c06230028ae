"""GitHub is eventually consistent: what was made a moment ago is missing from its next answers for some seconds."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from github.client import permanent_errors
from github.client.queries import Queries
from loops.store.tables import Session
from tests.e2e.checks.test_checks import later
from tests.e2e.house import House, house
from tests.late import Late

RIGHT = "pathlib.Path('value.txt').write_text('right')"
HALF = (
    "pathlib.Path('value.txt').write_text('right' if os.path.exists('half') else 'half'); open('half', 'w').write('x')"
)
NO_COMMITS: dict[str, Any] = {
    "errors": [
        {
            "resource": "PullRequest",
            "code": "custom",
            "message": "No commits between main and greenloop/1-make-it-right",
        }
    ]
}


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as opened:
        yield opened


@pytest.fixture
def late(home: House, monkeypatch: pytest.MonkeyPatch) -> Late:
    return Late(monkeypatch)


async def asked(home: House) -> Session:
    await home.comment(await home.issue(), "@greenloop fix it")
    return await home.ended()


async def published_once(home: House, session: Session) -> None:
    """One commit on the branch, one pull request, and the work is green."""
    (turn,) = await home.turns()
    (pull,) = await home.get("pulls?state=all")
    commits = await home.get(f"pulls/{pull['number']}/commits")
    assert (session.outcome, session.pull_number, turn.status) == ("green", pull["number"], "done")
    assert [each["sha"] for each in commits] == [turn.commit_sha]


@pytest.mark.parametrize(
    ("method", "path", "status", "message", "fields"),
    [
        ("POST", "/pulls", 422, "Validation Failed", NO_COMMITS),
        (
            "POST",
            "/pulls",
            422,
            "Validation Failed",
            {"errors": [{"resource": "PullRequest", "field": "head", "code": "invalid"}]},
        ),
        ("POST", "/pulls", 404, "Not Found", {}),
        ("POST", "/git/refs", 422, "Object does not exist", {}),
        ("POST", "/git/refs", 404, "Not Found", {}),
        ("POST", "/git/commits", 422, "Tree SHA does not exist", {}),
    ],
)
async def test_what_github_does_not_see_yet_is_asked_again_and_the_session_ends_green(
    home: House, late: Late, method: str, path: str, status: int, message: str, fields: dict[str, Any]
) -> None:
    home.agent(RIGHT)
    late.answer(method, path, 4, status, message, **fields)
    session = await asked(home)
    assert len(late.given) == 4
    await published_once(home, session)


@pytest.mark.parametrize(
    ("path", "status", "message"),
    [
        (r"/commits/\w{40}/check-runs", 422, "No commit found for SHA: 1234"),
        (r"/pulls/\d+", 404, "Not Found"),
    ],
)
async def test_what_rest_does_not_see_yet_is_asked_about_again_where_graphql_is_not_to_be_had(
    home: House, late: Late, monkeypatch: pytest.MonkeyPatch, path: str, status: int, message: str
) -> None:
    home.agent(RIGHT)
    monkeypatch.setattr(Queries, "closed", lambda *_: True)
    late.answer("GET", path, 4, status, message)
    session = await asked(home)
    assert len(late.given) == 4
    await published_once(home, session)


async def test_a_commit_that_is_on_its_branch_is_not_made_again_while_the_pull_request_cannot_be_opened(
    home: House, late: Late
) -> None:
    home.agent(RIGHT)
    late.answer("POST", "/pulls", 3, 422, "Validation Failed", **NO_COMMITS)
    await published_once(home, await asked(home))
    assert sum(path.endswith("/git/commits") for method, path in late.seen if method == "POST") == 1


async def test_a_repair_goes_on_where_its_branch_is_late(home: House, late: Late) -> None:
    home.agent(HALF)
    late.answer("PATCH", "/git/refs/heads/.*", 4, 422, "Reference update failed")
    session = await asked(home)
    assert (session.outcome, [turn.status for turn in await home.turns()]) == ("green", ["done", "done"])
    assert len(late.given) == 4


async def test_a_branch_that_is_shown_as_it_was_before_our_push_is_not_taken_for_somebody_elses_push(
    home: House, late: Late
) -> None:
    home.agent(HALF)
    stale: list[str] = []

    def before(_: httpx.Request) -> httpx.Response:
        return httpx.Response(200, json={"ref": "refs/heads/x", "object": {"type": "commit", "sha": stale[0]}})

    def pull(request: httpx.Request) -> httpx.Response:
        found = httpx.get(
            request.url, headers={k: v for k, v in request.headers.items() if k != "if-none-match"}
        ).json()
        found["head"]["sha"] = stale[0]
        return httpx.Response(200, json=found)

    await home.comment(await home.issue(), "@greenloop fix it")

    async def repaired() -> bool:
        turns = await home.turns()
        if turns and turns[0].commit_sha and not stale:
            stale.append(turns[0].commit_sha)
        if len(turns) == 2 and turns[1].commit_sha and len(late.given) == 0:
            late.give("GET", r"/pulls/\d+", 2, pull)
            late.give("GET", "/git/ref/heads/greenloop/.*", 2, before)
            return True
        return False

    await home.until(repaired)
    session = await home.ended()
    assert (session.outcome, session.head_sha) == ("green", (await home.turns())[1].commit_sha)
    assert len(await home.turns()) == 2


async def test_just_after_our_push_no_failures_before_make_an_answer_final_that_something_is_not_there(
    home: House, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permanent_errors, "LATE_TRIES", 1)
    home.agent(RIGHT)
    late.answer("GET", r"/pulls/\d+", 3, 404, "Not Found")
    await published_once(home, await asked(home))


async def test_what_stays_unseen_ends_the_session_with_githubs_words(
    home: House, late: Late, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(permanent_errors, "LATE_TRIES", 3)
    home.agent(RIGHT)
    late.answer("POST", "/pulls", 99, 422, "Validation Failed", **NO_COMMITS)
    session = await asked(home)
    assert (session.status, session.reason) == ("failed", "push_refused")
    assert any("No commits between main" in note for note in session.notes)
    assert len(late.given) == 3


async def test_a_locked_conversation_keeps_no_work_from_being_done(home: House, late: Late) -> None:
    home.agent(RIGHT)
    late.answer("POST", r"/issues/\d+/comments", 99, 403, "Unable to create comment because issue is locked.")
    await published_once(home, await asked(home))


@pytest.mark.parametrize("graphql", [True, False], ids=["GraphQL", "REST"])
async def test_a_branch_that_github_does_not_show_is_there_as_long_as_its_pull_request_is_open(
    home: House, late: Late, monkeypatch: pytest.MonkeyPatch, graphql: bool
) -> None:
    home.agent(RIGHT)
    first = await asked(home)
    await later(home, 1)
    if graphql:
        late.hide("branch", 2)
    else:
        monkeypatch.setattr(Queries, "closed", lambda *_: True)
    late.answer("GET", "/git/ref/heads/greenloop/.*", 2, 404, "Not Found")
    home.agent("pathlib.Path('more.txt').write_text('x')")
    await home.comment(first.subject_number or 0, "@greenloop add more")
    turn = await home.turn_ended(2)
    assert (turn.base_sha, turn.error) == (first.head_sha, None)
    assert len(late.given) >= 2


async def test_a_pull_request_that_graphql_does_not_show_yet_is_asked_of_rest(home: House, late: Late) -> None:
    home.agent(RIGHT)
    late.hide("pullRequest", 9)
    await published_once(home, await asked(home))
    assert late.given


async def test_a_default_branch_that_github_does_not_show_is_no_empty_repository(home: House, late: Late) -> None:
    home.agent(RIGHT)
    late.answer("GET", "/git/ref/heads/main", 3, 404, "Not Found")
    await published_once(home, await asked(home))
