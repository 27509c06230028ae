"""What people do at the API with tokens of their own."""

import json

from sqlalchemy import select, update

from loops.accounts.accounts import NewAccount, add
from loops.secrets.vault import Vault
from loops.store import journal
from loops.store.states import SessionStatus, TurnStatus
from loops.store.tables import Session, Turn
from tests.app.web.api.world import OPERATOR, World, started

ONE = "/api/v1/sessions/"


async def test_a_person_starts_sees_lists_retries_and_cancels_a_session_as_themselves(here: World) -> None:
    async with await here.of("alice") as alice:
        assert (await alice.get("/api/v1/me")).json()["login"] == "alice"
        name = await started(alice, "acme/widgets", base="main", max_steps=7)
        shown = (await alice.get(ONE + name)).json()
        assert (shown["person"], shown["surface"], shown["status"]) == ("alice", "api", "pending")
        assert [each["session"] for each in (await alice.get("/api/v1/sessions")).json()["sessions"]] == [name]
        first = (await alice.get(f"{ONE}{name}/events", params={"limit": 1})).json()
        assert ([each["seq"] for each in first["events"]], first["next"]) == ([1], 1)
        assert (await alice.get(f"{ONE}{name}/events", params={"after": 1})).json() == {"events": [], "next": None}
        assert (await alice.post(f"{ONE}{name}/cancel")).json() == {
            "session": name,
            "status": "pending",
            "was_open": True,
        }
        async with here.shared.database.write() as tx:
            (row,) = (await tx.execute(select(Session))).scalars()
            row.status, row.diff = SessionStatus.FAILED, "diff --git a/a b/a\n+1\n"
            row.reason = "internal: /var/lib/secret/place"
            await tx.execute(update(Turn).values(status=TurnStatus.FAILED))
            await journal.append(tx, row.id, [("session_ended", {"status": "failed", "reason": row.reason})], at=1.0)
        assert (await alice.get(f"{ONE}{name}/diff")).text == "diff --git a/a b/a\n+1\n"
        told = (await alice.get(ONE + name)).text
        assert "internal" in told and "/var/lib/secret" not in told
        again = await alice.post(f"{ONE}{name}/retry", json={"instruction": "and be brief"})
        assert (again.status_code, again.json()) == (202, {"session": name, "status": "pending"})
    async with here.shared.database.read() as tx:
        turns = (await tx.execute(select(Turn).order_by(Turn.number))).scalars().all()
    assert [turn.context["instruction"] for turn in turns] == ["fix it", "fix it\n\nand be brief"]
    assert {turn.owner_id for turn in turns} == {here.local.user("alice").id}
    async with here.client(OPERATOR) as operator:
        seen = await operator.get(ONE + name, params={"installation": here.installations["acme"]})
        assert (seen.status_code, seen.json()["person"]) == (200, "alice")


async def test_a_person_sees_where_they_may_ask_and_with_which_accounts(here: World) -> None:
    vault = Vault(here.shared.settings.encryption_key_list())
    async with await here.of("alice") as alice, await here.of("bob") as bob:
        own = here.local.user("alice").id
        for account, name, person in (("acme", "hers", own), ("acme", "shared", None), ("other", "foreign", None)):
            wanted = NewAccount(account, name, "openai", "api_key", "sk-of-somebody", person=person, model="m")
            await add(here.shared.database, vault, wanted, 1000)

        async def names(**asked: str) -> list[str]:
            answer = await alice.get("/api/v1/accounts", params=asked)
            assert "sk-of-somebody" not in answer.text
            return [each["name"] for each in answer.json()["accounts"]]

        assert (await names(), await names(repository="acme/widgets")) == (["hers"], ["hers", "shared"])
        assert (await alice.get("/api/v1/accounts", params={"repository": "other/things"})).status_code == 404
        for client, expected in ((alice, ["acme/widgets"]), (bob, [])):
            found = (await client.get("/api/v1/repositories")).json()
            assert ([each["full_name"] for each in found["repositories"]], found["next"]) == (expected, None)


async def test_lists_go_on_by_their_cursor_and_filters_say_what_they_cannot_be(here: World) -> None:
    async with await here.of("alice") as alice:
        names = [await started(alice, "acme/widgets", instruction=f"task {number}") for number in range(3)]
        seen: list[str] = []
        asked = {"limit": "2", "repository": "acme/widgets"}
        for size in (2, 1):
            page = (await alice.get("/api/v1/sessions", params=asked)).json()
            seen += [each["session"] for each in page["sessions"]]
            assert (len(page["sessions"]), page["next"] is None) == (size, size == 1)
            asked["cursor"] = page["next"]
        assert seen == names[::-1]
        for query, expected in (
            ({"text": "TASK 1"}, [names[1]]),
            ({"person": "alice", "repository": "acme/widgets"}, names[::-1]),
            ({"person": "bob"}, []),
            ({"status": "failed"}, []),
        ):
            found = (await alice.get("/api/v1/sessions", params=query)).json()["sessions"]
            assert [each["session"] for each in found] == expected
        for query in (
            {"state": "failed"},
            {"status": "faild"},
            {"limit": "0"},
            {"limit": "²"},
            {"text": "\0"},
            {"text": ""},
        ):
            refused = await alice.get("/api/v1/sessions", params=query)
            assert (refused.status_code, refused.json()["field"]) == (400, next(iter(query)))


async def test_the_same_start_with_its_key_again_starts_nothing_and_is_answered_alike(here: World) -> None:
    key = {"idempotency-key": "k-1"}
    asked = {"repository": "acme/widgets", "instruction": "fix it"}
    async with await here.of("alice") as alice, await here.of("alice") as her_other_token:
        first = await alice.post("/api/v1/sessions", json=asked, headers=key)
        again = await her_other_token.post("/api/v1/sessions", json=asked, headers=key)
        assert (first.status_code, again.status_code, again.json()) == (201, 201, first.json())
        assert ("idempotency-replayed" in first.headers, again.headers["idempotency-replayed"]) == (False, "true")
        refused = await alice.post("/api/v1/sessions", json=asked, headers={"idempotency-key": "x" * 201})
        assert refused.status_code == 400
        name = first.json()["session"]
        for _ in range(2):
            assert (await alice.post(f"{ONE}{name}/retry", headers={"idempotency-key": "k-2"})).status_code == 202
    async with here.shared.database.read() as tx:
        assert len((await tx.execute(select(Turn.id))).all()) == 2


async def test_a_stream_tells_what_happens_goes_on_behind_an_event_and_ends_with_the_session(here: World) -> None:
    async with await here.of("alice") as alice:
        name = await started(alice, "acme/widgets")
        async with here.shared.database.write() as tx:
            (row,) = (await tx.execute(select(Session))).scalars()
            row.status = SessionStatus.COMPLETED
            await journal.append(tx, row.id, [("status", {"text": "done"})], at=1.0)
        told = {}
        for behind in ("0", "1"):
            headers = {"accept": "text/event-stream", "last-event-id": behind}
            answer = await alice.get(f"{ONE}{name}/events", headers=headers)
            told[behind] = [
                tuple(line.partition(": ")[2] for line in block.split("\r\n"))
                for block in answer.text.split("\r\n\r\n")
                if block
            ]
        assert [each[:2] for each in told["0"][:2]] == [("1", "event"), ("2", "event")]
        assert told["0"][1:] == told["1"]
        assert json.loads(told["1"][0][2])["payload"] == {"text": "done"}
        assert [each[0] for each in told["1"][1:]] == ["session", "end"]


async def test_what_is_asked_for_is_described_and_everything_described_is_there(here: World) -> None:
    async with await here.of("alice") as alice:
        document = (await alice.get("/api/v1/openapi.json")).json()
        assert document["openapi"].startswith("3.1")
        for path, operations in document["paths"].items():
            wrong = await alice.request("PATCH", path.replace("{session}", "s_0"))
            allowed = {method.upper() for method in operations}
            assert (wrong.status_code, set(wrong.headers["allow"].split(", "))) == (405, allowed)
        for path in ("/api/v1", "/api/v1/nothing", "/api/v1/sessions/s_0/nothing"):
            missing = await alice.get(path)
            assert (missing.status_code, missing.headers["content-type"]) == (404, "application/problem+json"), path
