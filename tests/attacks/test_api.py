"""The API against people who hold a token, and against tokens that hold no more: on every operation there is."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from sqlalchemy import func, select, update

from app.web.api import stream
from app.web.api.operations import OPERATIONS, Operation
from loops.accounts.personal_tokens import SCOPES, revoke
from loops.secrets.token_hash import token_hash
from loops.store.access_tables import PersonalToken
from loops.store.states import SessionStatus, SubjectKind
from loops.store.tables import Audit, Person, Session, Turn
from tests.app.web.api.world import OPERATOR, World, started, world

WITH_A_TOKEN = tuple(each for each in OPERATIONS if each.name != "endToken")
NOBODYS = "s_0000000000000000"


@pytest.fixture
async def here(tmp_path: Path, sqlite_url: str, redis_url: str) -> AsyncIterator[World]:
    async with world(tmp_path, sqlite_url, redis_url) as made:
        yield made


async def called(client: httpx.AsyncClient, operation: Operation, session: str, repository: str) -> httpx.Response:
    """The operation on that session, or in that repository."""
    body = {"repository": repository, "instruction": "take it"} if operation.name == "startSession" else None
    about_one = any(each.name == "repository" for each in operation.query)
    path = operation.path.format(session=session)
    query = {"repository": repository} if about_one else None
    return await client.request(operation.method, path, json=body, params=query)


async def rows(here: World) -> tuple[int, ...]:
    """How many sessions and turns there are, and ends asked for."""
    async with here.shared.database.read() as tx:
        ends = select(func.count()).select_from(Session).where(Session.cancel_by.is_not(None))
        counts = (select(func.count()).select_from(Session), select(func.count()).select_from(Turn), ends)
        return tuple([(await tx.execute(each)).scalar_one() for each in counts])


@pytest.mark.parametrize("who", ["bob", "dave", "alice without her right"])
async def test_what_a_person_may_not_ask_for_does_not_exist_whatever_they_call(here: World, who: str) -> None:
    """Bob reads there, Dave writes in another installation, and Alice wrote there until a moment ago."""
    async with await here.of("alice") as alice, await here.of(who.split()[0]) as other:
        name = await started(alice, "acme/widgets")
        if who.startswith("alice"):
            assert (await other.get(f"/api/v1/sessions/{name}")).status_code == 200
            here.local.set_permission("acme/widgets", "alice", "none")
        before = await rows(here)
        for operation in WITH_A_TOKEN:
            theirs = await called(other, operation, name, "acme/widgets")
            if operation.name in ("getMe", "listRepositories"):
                assert (theirs.status_code, "acme" in theirs.text) == (200, False)
                continue
            missing = await called(other, operation, NOBODYS, "acme/nothing")
            told = theirs.text.replace(name, NOBODYS).replace("acme/widgets", "acme/nothing")
            assert (theirs.status_code, told) == (404, missing.text), operation.name
        for accept in ("text/event-stream", "*/*"):
            streamed = await other.get(f"/api/v1/sessions/{name}/events", headers={"accept": accept})
            assert streamed.status_code == 404
        for query in ({}, {"installation": here.installations["acme"]}, {"person": "alice"}):
            listed = await other.get("/api/v1/sessions", params=query)
            assert (listed.status_code, listed.json()["sessions"]) == (200, [])
        assert await rows(here) == before


async def test_a_token_that_is_unknown_revoked_or_over_opens_nothing(here: World) -> None:
    texts = [await here.token("alice") for _ in range(3)]
    async with here.client(texts[0]) as alice:
        name = await started(alice, "acme/widgets")
    now = here.shared.clock()
    async with here.shared.database.write() as tx:
        owner = await tx.get_one(Person, here.local.user("alice").id)
        token = (
            await tx.execute(select(PersonalToken).where(PersonalToken.token_hash == token_hash(texts[0])))
        ).scalar_one()
        assert await revoke(tx, owner, token.id, surface="page", now=now)
        over = update(PersonalToken).where(PersonalToken.token_hash == token_hash(texts[1])).values(expires_at=now)
        await tx.execute(over)
    for wrong in (texts[0], texts[1], texts[2] + "x", "glp_", token_hash(texts[2]), OPERATOR + "x", "glp_\u00fc"):
        headers = {b"authorization": f"Bearer {wrong}".encode()}
        async with here.client("") as client:
            for operation in OPERATIONS:
                path = operation.path.format(session=name)
                refused = await client.request(operation.method, path, headers=headers)
                assert (refused.status_code, refused.headers["www-authenticate"]) == (401, "Bearer")
            assert (await client.post("/mcp", json={}, headers=headers)).status_code == 401
    assert await rows(here) == (1, 1, 0)


async def test_a_token_without_the_scope_of_an_operation_is_refused_by_it(here: World) -> None:
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
        before = await rows(here)
        for operation in OPERATIONS:
            if operation.scope is None:
                continue
            async with await here.of("alice", set(SCOPES) - {operation.scope}) as client:
                refused = await called(client, operation, name, "acme/widgets")
                assert refused.status_code == 403 and operation.scope in refused.json()["detail"]
        assert await rows(here) == before


async def test_nothing_is_done_and_nothing_told_while_github_does_not_say_who_may(here: World) -> None:
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
        before = await rows(here)
        here.local.add_fault("primary_limit", path="*/permission")
        for operation in WITH_A_TOKEN:
            answer = await called(alice, operation, name, "acme/widgets")
            if operation.name != "getMe":
                assert (answer.status_code, "retry-after" in answer.headers) == (503, True), operation.name
        assert await rows(here) == before


async def test_a_token_acts_for_its_person_and_for_nobody_else(here: World) -> None:
    await here.token("dave")
    async with await here.of("alice") as alice:
        asked = {"repository": "acme/widgets", "instruction": "fix it"}
        for named in ("dave", "@Dave", "nobody"):
            refused = await alice.post("/api/v1/sessions", json={**asked, "person": named})
            assert (refused.status_code, refused.json()["field"]) == (403, "person")
        name = await started(alice, "acme/widgets", person="@Alice")
        await alice.post(f"/api/v1/sessions/{name}/cancel")
    async with here.shared.database.read() as tx:
        session = (await tx.execute(select(Session))).scalar_one()
        actors = (await tx.execute(select(Audit.actor).where(Audit.session_id == session.id))).scalars().all()
    assert (session.owner_id, session.cancel_by, actors) == (here.local.user("alice").id, "alice", ["alice"] * 2)


async def test_a_key_of_a_start_is_good_for_that_start_and_that_caller_alone(here: World) -> None:
    here.local.set_permission("acme/widgets", "dave", "write")
    key, asked = {"idempotency-key": "k"}, {"repository": "acme/widgets", "instruction": "fix it"}
    async with await here.of("alice") as alice, await here.of("dave") as dave:
        first = (await alice.post("/api/v1/sessions", json=asked, headers=key)).json()["session"]
        for change in ({"instruction": "other"}, {"base": "main"}, {"max_steps": 3}, {"repository": "ACME/widgets"}):
            reused = await alice.post("/api/v1/sessions", json={**asked, **change}, headers=key)
            assert (reused.status_code, first in reused.text) == (422, False)
        assert (await alice.post(f"/api/v1/sessions/{first}/retry", headers=key)).status_code == 422
        others = await dave.post("/api/v1/sessions", json=asked, headers=key)
        assert (others.status_code, others.json()["session"] == first) == (201, False)
        here.local.set_permission("acme/widgets", "alice", "read")
        assert (await alice.post("/api/v1/sessions", json=asked, headers=key)).status_code == 404
    assert await rows(here) == (2, 2, 0)


async def test_a_cursor_is_good_for_its_own_list_and_its_own_caller_alone(here: World) -> None:
    here.local.set_permission("acme/widgets", "dave", "write")
    async with await here.of("alice") as alice, await here.of("dave") as dave:
        for _ in range(2):
            await started(alice, "acme/widgets")
        asked = {"repository": "acme/widgets", "limit": "1"}
        given = (await alice.get("/api/v1/sessions", params=asked)).json()["next"]
        assert (await alice.get("/api/v1/sessions", params={**asked, "cursor": given})).status_code == 200
        changed = given[:-1] + ("A" if given[-1] != "A" else "B")
        for client, query in (
            (dave, {**asked, "cursor": given}),
            (alice, {"cursor": given}),
            (alice, {**asked, "status": "failed", "cursor": given}),
            *((alice, {**asked, "cursor": forged}) for forged in (changed, given[:9], "1", "=", "\u00e9", "A" * 900)),
        ):
            refused = await client.get("/api/v1/sessions", params=query)
            assert (refused.status_code, refused.json()["field"]) == (400, "cursor")
        assert (await alice.get("/api/v1/repositories", params={"cursor": given})).status_code == 400


async def test_a_stream_ends_soon_and_goes_on_only_for_who_still_may(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(stream, "RECHECK", 0.0)
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
        watch = {"accept": "text/event-stream"}
        assert (await alice.get(f"/api/v1/sessions/{name}/events", headers=watch)).text == ""
        here.local.set_permission("acme/widgets", "alice", "read")
        assert (await alice.get(f"/api/v1/sessions/{name}/events", headers=watch)).status_code == 404


async def test_one_persons_calls_do_not_use_up_what_an_installation_may_ask_of_github(
    here: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.api.rights.QUESTIONS", 2)
    async with await here.of("alice") as alice, await here.of("dave") as dave:
        name = await started(alice, "acme/widgets")
        statuses = [(await alice.get(f"/api/v1/sessions/{name}")).status_code for _ in range(2)]
        assert statuses == [200, 429]
        assert (await dave.get("/api/v1/repositories")).status_code == 200


async def test_a_transferred_or_uninstalled_repositorys_sessions_are_nobodys(here: World) -> None:
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
        async with here.shared.database.write() as tx:
            await tx.execute(update(Session).values(installation_id=here.installations["other"]))
        assert (await alice.get(f"/api/v1/sessions/{name}")).status_code == 404
        assert (await alice.get("/api/v1/sessions")).json()["sessions"] == []


async def test_what_is_merged_is_not_tried_again(here: World) -> None:
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
        async with here.shared.database.write() as tx:
            await tx.execute(update(Session).values(pull_state="merged", status=SessionStatus.COMPLETED))
        refused = await alice.post(f"/api/v1/sessions/{name}/retry")
        assert (refused.status_code, "merged" in refused.text) == (409, True)


async def test_a_retry_approves_no_commit_of_a_fork_that_nobody_looked_at(here: World) -> None:
    """Bob's fork was approved at one commit; by the time of the retry it has another."""
    async with (
        await here.of("alice") as alice,
        httpx.AsyncClient(base_url=here.local.api_url, headers={"user-agent": "test"}) as github,
    ):

        async def told(login: str, method: str, path: str, **body: str) -> dict[str, Any]:
            token = {"authorization": f"token {here.local.user(login).token}"}
            answer = await github.request(method, f"/repos/{path}", json=body, headers=token)
            assert answer.is_success, answer.text
            found: dict[str, Any] = answer.json()
            return found

        async def pushed(login: str, name: str) -> str:
            made = await told(login, "PUT", f"{login}/widgets/contents/{name}", message=name, content="YQ==")
            return str(made["commit"]["sha"])

        await told("alice", "PUT", "acme/widgets/contents/base", message="base", content="YQ==")
        await told("bob", "POST", "acme/widgets/forks")
        looked_at = await pushed("bob", "first")
        pull = await told("bob", "POST", "acme/widgets/pulls", title="t", head="bob:main", base="main")
        name = await started(alice, "acme/widgets")
        about = {"subject_kind": SubjectKind.PULL, "subject_number": pull["number"], "approved_sha": looked_at}
        async with here.shared.database.write() as tx:
            await tx.execute(update(Session).values(own_branch=True, **about))
        moved = await pushed("bob", "second")
        assert (await alice.post(f"/api/v1/sessions/{name}/retry")).status_code == 202
    async with here.shared.database.read() as tx:
        row = (await tx.execute(select(Session))).scalar_one()
    assert (row.approved_sha, row.needs_approval) == (moved, True)
