"""Programs without a browser get a token of the person who types their code on a page, and of nobody else."""

from typing import Any

import httpx
from sqlalchemy import func, select

from app.commands.server.login import device_flow
from loops.accounts.device_login import MOST, SECONDS
from loops.store.access_tables import DeviceApproval, PersonalToken
from tests.app.web.api.world import URL, World
from tests.app.web.signin.conftest import sign_in

OURS = {"origin": URL}
GRANT = "urn:ietf:params:oauth:grant-type:device_code"


def program(here: World) -> httpx.AsyncClient:
    return httpx.AsyncClient(transport=httpx.ASGITransport(here.app), base_url=URL)


async def begun(http: httpx.AsyncClient) -> dict[str, Any]:
    answer = await http.post("/api/v1/device/code")
    assert (answer.status_code, answer.headers["cache-control"]) == (200, "no-store")
    found: dict[str, Any] = answer.json()
    return found


async def asked(http: httpx.AsyncClient, device: str, grant: str = GRANT) -> tuple[int, dict[str, Any]]:
    answer = await http.post("/api/v1/device/token", data={"grant_type": grant, "device_code": device})
    return answer.status_code, answer.json()


def form(code: str, **more: Any) -> dict[str, Any]:
    return {"code": code, "days": "30", "scope": ["sessions:read"], "answer": "allow", **more}


async def test_a_program_gets_a_token_of_whoever_typed_its_code_once(here: World) -> None:
    async with program(here) as browser, program(here) as shell:
        said: list[str] = []

        async def meanwhile(seconds: float) -> None:
            """The person answers after the program's first question."""
            waits.append(seconds)
            if len(waits) == 2:
                where = said[0].split()[1].removeprefix(URL)
                shown = await sign_in(browser, "alice", where)
                code = where.partition("=")[2]
                assert code in (await browser.get(shown.headers["location"])).text
                assert (await browser.post("/device", data=form(code), headers=OURS)).status_code == 200

        waits: list[float] = []
        token = await device_flow(shell, URL, say=said.append, sleep=meanwhile)
        assert waits == [5.0] * 2
    async with here.client(token) as alice:
        assert (await alice.get("/api/v1/me")).json() == {
            "kind": "person",
            "login": "alice",
            "scopes": ["sessions:read"],
        }
        assert (await alice.post("/api/v1/me/revoke")).status_code == 200
        assert (await alice.get("/api/v1/me")).status_code == 401


async def test_a_code_is_answered_once_collected_once_and_over_in_time(here: World) -> None:
    async with program(here) as alice, program(here) as dave, program(here) as shell:
        await sign_in(alice, "alice", "/device")
        await sign_in(dave, "dave", "/device")
        codes = await begun(shell)
        device, code = codes["device_code"], codes["user_code"]
        assert await asked(shell, device) == (400, {"error": "authorization_pending"})
        typed = code.lower().replace("-", " ")
        assert (await alice.post("/device", data=form(typed), headers=OURS)).status_code == 200
        again = await dave.post("/device", data=form(code), headers=OURS)
        assert (again.status_code, "answered before" in again.text) == (400, True)
        status, told = await asked(shell, device)
        assert (status, told["token_type"], told["scope"]) == (200, "bearer", "sessions:read")
        assert await asked(shell, device) == (400, {"error": "authorization_pending"})
        refused = await begun(shell)
        await alice.post("/device", data=form(refused["user_code"], answer="refuse", scope=[]), headers=OURS)
        assert await asked(shell, refused["device_code"]) == (400, {"error": "access_denied"})
        for wrong in ("", "x", device + "x", "x" + device, "\u00e9", f"a.{2**40}.b"):
            assert await asked(shell, wrong) == (400, {"error": "invalid_grant"})
        assert await asked(shell, device, "password") == (400, {"error": "unsupported_grant_type"})
        later = here.shared.clock() + SECONDS + 1
        object.__setattr__(here.shared, "clock", lambda: later)
        assert await asked(shell, device) == (400, {"error": "expired_token"})


async def test_an_answer_that_cannot_be_gives_nobody_a_token(here: World) -> None:
    async with program(here) as browser, program(here) as shell:
        await sign_in(browser, "alice", "/device")
        codes = await begun(shell)
        given = form(codes["user_code"])
        for change, headers, status in (
            ({}, {"origin": "https://evil.example"}, 403),
            ({"scope": []}, OURS, 400),
            ({"scope": ["admin"]}, OURS, 400),
            ({"days": "9999"}, OURS, 400),
            ({"code": "BCDF"}, OURS, 400),
        ):
            answer = await browser.post("/device", data={**given, **change}, headers=headers)
            assert answer.status_code == status, change
            assert (await asked(shell, codes["device_code"]))[1] == {"error": "authorization_pending"}
        nobody = await shell.post("/device", data=given, headers=OURS)
        assert nobody.headers["location"].startswith("/signin")
    async with here.shared.database.read() as tx:
        assert (await tx.execute(select(PersonalToken))).first() is None


async def test_codes_fill_no_table_and_a_person_answers_only_so_many(here: World) -> None:
    async with program(here) as browser, program(here) as shell:
        await sign_in(browser, "alice", "/device")
        codes = [(await begun(shell))["user_code"] for _ in range(MOST + 1)]
        statuses = [(await browser.post("/device", data=form(code), headers=OURS)).status_code for code in codes]
    assert statuses == [200] * MOST + [400]
    async with here.shared.database.read() as tx:
        assert (await tx.execute(select(func.count()).select_from(DeviceApproval))).scalar_one() == MOST
