import html
from typing import Any, cast

import httpx
import pytest
from sqlalchemy import select

from app.web.pages import sessions
from app.web.state import AppState
from github.checks.model import Check, Kind
from github.client.repository import RepositoryHandle
from loops.checks.collect import CollectedCheck, collect, failures
from loops.checks.distiller import Distiller
from loops.checks.shown_evidence import keep_evidence
from loops.evidence import distill
from loops.evidence.passing.since import Since
from loops.store.tables import Session
from tests.app.web.pages.seeding import EVIL, happen, seed
from tests.databases import on_sqlite
from tests.loops.checks.others import BUILDKITE, JENKINS

CHECKS: dict[str, Any] = {
    "sha": "ab" * 20,
    "state": "red",
    "explanation": "One check failed.",
    "failing": [
        {"name": "test (3.12)", "conclusion": "failure", "url": "https://github.com/runs/1", "required": True},
        {"name": "odd link", "conclusion": "failure", "url": "javascript:alert(1)", "required": False},
    ],
    "running": [],
    "green": [{"name": "lint", "conclusion": "success", "url": None, "required": False}],
    "other": [],
}


async def test_the_list_is_empty_in_words_and_then_names_sessions(http: httpx.AsyncClient, shared: AppState) -> None:
    assert "No session yet" in (await http.get("/")).text
    await seed(shared)
    text = (await http.get("/")).text
    assert "/sessions/s_1" in text
    assert "Sums are wrong" in text
    assert "octo/calculator" in text


async def test_a_session_shows_state_turns_checks_changes_and_where_to_look(
    http: httpx.AsyncClient, shared: AppState
) -> None:
    session_id = await seed(shared, checks=CHECKS, notes=["A note for people."])
    await happen(shared, session_id, ("assistant_delta", {"text": "I look at it", "message_id": "m"}))
    text = (await http.get("/sessions/s_1")).text
    for expected in (
        "Working", "ann", "0 of 3", "I look at it", "A note for people.", "1 min 15 s", "abababab",
        'href="https://github.com/octo/calculator/issues/4"',
        'href="https://github.com/octo/calculator/issues/4#issuecomment-991"',
        'href="https://github.com/octo/calculator/pull/5"',
        "One check failed.", "test (3.12)", 'href="https://github.com/runs/1"', "required", "lint",
        "src/add.py", "+1", "−1", 'class="removed"', 'class="added"', 'class="context"', "return a - b",
        'data-stream="/sessions/s_1/events?after=1"',
    ):  # fmt: skip
        assert expected in text
    assert "javascript:" not in text
    assert "# &lt;b&gt;sum&lt;/b&gt;" in text


@on_sqlite
async def test_a_session_says_of_another_services_check_that_its_log_was_not_read_and_of_ours_what_changed(
    http: httpx.AsyncClient, shared: AppState
) -> None:
    session_id = await seed(shared)
    others = await collect(
        cast(Distiller, None),
        cast(RepositoryHandle, None),
        [BUILDKITE, JENKINS],
        budget=16_000,
        changed_files=(),
        redact=lambda text: text,
    )
    since = Since("c0ffee" * 6, "main", ("4f1c2d9 Trim the wick",), ("src/lamp.py", "docs/lamp.md"))
    job = Check(Kind.JOB, 43, "test (3.12)", 15368, "github-actions", "failure", url="https://github.com/runs/1")
    ours = CollectedCheck(job, distill([b"src/lamp.py:7: error: no such wick\n##[error]exit code 1\n"], since=since))
    async with shared.database.read() as tx:
        session = (await tx.execute(select(Session).where(Session.id == session_id))).scalar_one()
    await keep_evidence(shared.clock, shared.database, session, "ab" * 20, failures([*others, ours]))
    text = html.unescape((await http.get("/sessions/s_1")).text)
    for check in (BUILDKITE, JENKINS):
        assert check.title in text
        assert f"It is at {check.url}" in text
    assert text.count("Its log was not read") == 2
    assert "This job last passed on main at c0ffeec0ff" in text
    assert "4f1c2d9 Trim the wick" in text
    assert "src/lamp.py (the failure names it), docs/lamp.md" in text


@on_sqlite
async def test_text_from_elsewhere_is_text_and_the_policy_forbids_scripts(
    http: httpx.AsyncClient, shared: AppState
) -> None:
    session_id = await seed(shared, title=EVIL, reason=EVIL, notes=[EVIL], summary=EVIL, branch=EVIL, diff=f"+{EVIL}")
    kinds = ("assistant_delta", "assistant_completed", "tool_started", "tool_completed", "error", "status", EVIL[:30])
    fields = ("text", "message_id", "name", "input", "output", "message")
    await happen(shared, session_id, *((kind, dict.fromkeys(fields, EVIL)) for kind in kinds))
    for path in ("/", "/sessions/s_1", "/sessions/<script>"):
        answer = await http.get(path)
        assert "<script>" not in answer.text
        assert "<img src=x" not in answer.text
        policy = answer.headers["content-security-policy"]
        assert "default-src 'none'" in policy and "unsafe" not in policy


async def test_an_unknown_session_is_not_found(http: httpx.AsyncClient) -> None:
    answers = [await http.get("/sessions/s_none"), await http.get("/sessions/s_none/events")]
    assert [answer.status_code for answer in answers] == [404, 404]


async def test_a_long_session_shows_its_newest_events_and_a_way_to_the_earlier_ones(
    http: httpx.AsyncClient, shared: AppState, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sessions, "EVENTS", 10)
    session_id = await seed(shared)
    await happen(shared, session_id, *(("status", {"text": f"event no. {n}."}) for n in range(1, 26)))
    newest = (await http.get("/sessions/s_1")).text
    assert "event no. 25." in newest and "event no. 16." in newest and "event no. 15." not in newest
    assert 'href="?before=16"' in newest
    earlier = (await http.get("/sessions/s_1?before=16")).text
    assert "event no. 15." in earlier and "event no. 16." not in earlier
    assert "data-stream" not in earlier


@on_sqlite
@pytest.mark.parametrize("before", ["-1", "x", "9" * 40, "", "٣"])
async def test_an_odd_page_number_is_no_failure(http: httpx.AsyncClient, shared: AppState, before: str) -> None:
    await seed(shared)
    assert (await http.get("/sessions/s_1", params={"before": before})).status_code == 200


@on_sqlite
async def test_style_and_script_come_from_ourselves(http: httpx.AsyncClient) -> None:
    text = (await http.get("/")).text
    assert "//" not in text.replace("<!doctype html>", "")
    for name in ("style.css", "session.js", "icon.svg"):
        assert (await http.get(f"/static/{name}")).status_code == 200
