"""What a box reports can stop nobody: heavy passes run apart, and what they cannot take is withheld and answered."""

import asyncio
import os
from collections.abc import Iterator
from dataclasses import replace

import httpx
import pytest
from starlette.applications import Starlette

from app.web.pages import shown_diff
from app.web.state import AppState
from k8s.runner.protocol import DIFF_BYTES
from loops.offload import HEAVY, Offload
from loops.protocol import results, store_output
from loops.secrets.kind import example
from tests.app.boxside import RESULT, journal, row, said, seed, send

HALVES = "eyJ" * (DIFF_BYTES // 3)
TOKEN = example("ghp_{w36}")


async def test_health_is_answered_before_a_long_report_is_stored(
    box: httpx.AsyncClient, http: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, status="running")
    order: list[str] = []

    async def report() -> None:
        diff = f"+{HALVES}\n+{TOKEN}\n"
        answer = await box.put("/turns/t_1/result", json=RESULT | {"diff": diff})
        assert answer.status_code == 204
        order.append("report")

    async def health() -> None:
        # the report's body is read and its pass begun
        await asyncio.sleep(0.05)
        assert (await http.get("/healthz")).status_code == 200
        order.append("health")

    await asyncio.gather(report(), health())
    assert order == ["health", "report"]
    stored = (await row(shared)).result
    assert stored is not None and TOKEN not in str(stored)


def _stuck(*_: object) -> None:
    os.read(os.pipe()[0], 1)


def _dead(*_: object) -> None:
    os._exit(1)


@pytest.fixture
def impatient(app: Starlette, shared: AppState) -> Iterator[AppState]:
    app.state.shared = app.state.boxes.state.shared = replace(shared, offload=Offload(seconds=3.0))
    yield app.state.shared


@pytest.mark.parametrize("poison", [_stuck, _dead], ids=["stuck", "dead"])
async def test_a_report_that_cannot_be_looked_through_is_stored_without_its_words(
    box: httpx.AsyncClient, impatient: AppState, monkeypatch: pytest.MonkeyPatch, poison: object
) -> None:
    monkeypatch.setattr(results, "shown_result", poison)
    await seed(impatient, status="running")
    report = RESULT | {"diff": f"+{TOKEN}\n" * 2_000, "message": TOKEN, "stderr_tail": TOKEN}
    assert (await box.put("/turns/t_1/result", json=report)).status_code == 204
    turn = await row(impatient)
    assert turn.status == "reported" and turn.result is not None
    assert "withheld" in turn.result["message"] and turn.result["diff"] == ""
    assert TOKEN not in str(turn.result) + str(turn.message)
    assert any("withheld" in str(event.payload) for event in await journal(impatient))
    # the box repeats its report: it is stored, and not tried again
    assert (await box.put("/turns/t_1/result", json=report)).status_code == 204


@pytest.mark.parametrize("poison", [_stuck, _dead], ids=["stuck", "dead"])
async def test_output_that_cannot_be_looked_through_is_taken_and_withheld_and_the_turn_goes_on(
    box: httpx.AsyncClient, impatient: AppState, monkeypatch: pytest.MonkeyPatch, poison: object
) -> None:
    monkeypatch.setattr(store_output, "_parsed", poison)
    await seed(impatient, status="running")
    data = f"{TOKEN}\n".encode() * (HEAVY // 40 + 1)
    assert (await send(box, 0, data)).json()["offset"] == len(data)
    assert [event.kind for event in await journal(impatient)] == ["status"]
    monkeypatch.undo()
    assert (await send(box, len(data), b"and on\n")).json()["offset"] == len(data) + 7
    assert await said(impatient) == "and on\n"
    assert TOKEN not in str([event.payload for event in await journal(impatient)])


async def test_a_page_with_a_large_diff_is_rendered_apart_and_the_other_requests_do_not_wait(
    box: httpx.AsyncClient, http: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, status="running")
    diff = "diff --git a/x b/x\n@@ -1 +1 @@\n" + "+\n" * (DIFF_BYTES // 2 - 50)
    assert (await box.put("/turns/t_1/result", json=RESULT | {"diff": diff})).status_code == 204
    order: list[str] = []

    async def page() -> None:
        answer = await http.get("/sessions/s_1")
        assert "more lines: see the pull request" in answer.text
        order.append("page")

    async def health() -> None:
        await asyncio.sleep(0.05)
        assert (await http.get("/healthz")).status_code == 200
        order.append("health")

    await asyncio.gather(page(), health())
    assert order == ["health", "page"]


async def test_a_diff_that_cannot_be_rendered_is_left_out_of_its_page(
    box: httpx.AsyncClient, http: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    await seed(shared, status="running")
    diff = "diff --git a/x b/x\n@@ -1 +1 @@\n" + "+more\n" * (HEAVY // 3)
    assert (await box.put("/turns/t_1/result", json=RESULT | {"diff": diff})).status_code == 204
    monkeypatch.setattr(shown_diff, "rendered", _dead)
    answer = await http.get("/sessions/s_1")
    assert (answer.status_code, "The diff is not shown" in answer.text) == (200, True)


async def test_the_redactor_of_a_turn_is_built_once(box: httpx.AsyncClient, shared: AppState) -> None:
    await seed(shared, status="running")
    for number in range(3):
        await send(box, 7 * number, b"line %d\n" % number)
    assert len(shared.redactors._kept) == 1
