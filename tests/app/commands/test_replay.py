import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from app.commands.cli import main
from app.commands.replay import event_of
from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from loops.store.tables import Delivery
from tests.app.conftest import SECRET
from tests.app.serving import serving
from tests.databases import on_sqlite

COMMENT = {
    "action": "created",
    "issue": {"number": 5},
    "comment": {"id": 1, "body": "@greenloop fix it"},
    "repository": {"id": 7, "full_name": "acme/widgets"},
    "sender": {"id": 1, "login": "ann", "type": "User"},
    "installation": {"id": 3},
}


@pytest.fixture
def payload(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("GREENLOOP_WEBHOOK_SECRETS", SECRET.decode())
    file = tmp_path / "payload.json"
    file.write_text(json.dumps(COMMENT, indent=1))
    return file


def run(*words: str, stdin: bytes | None = None) -> Result:
    return CliRunner().invoke(main, ["replay", *words], input=stdin)


@on_sqlite
async def test_a_saved_payload_is_delivered_as_new_and_with_an_old_id_as_a_repeat(
    settings: Settings, payload: Path
) -> None:
    app = create_app(settings)
    shared: AppState = app.state.shared
    async with serving(app) as url:
        first = await asyncio.to_thread(run, str(payload), "--url", url)
        second = await asyncio.to_thread(run, str(payload), "--url", f"{url}/webhooks/github", "--delivery", "again-1")
        third = await asyncio.to_thread(run, str(payload), "--url", url, "--delivery", "again-1")
        async with shared.database.read() as tx:
            stored = await tx.get(Delivery, "again-1")
    assert [each.exit_code for each in (first, second, third)] == [0, 0, 0], first.output
    assert "202 issue_comment " in first.output
    assert stored is not None and json.loads(stored.body or b"") == COMMENT


@on_sqlite
async def test_a_wrong_secret_is_refused_with_exit_code_1(
    settings: Settings, payload: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("GREENLOOP_WEBHOOK_SECRETS", "another secret")
    async with serving(create_app(settings)) as url:
        refused = await asyncio.to_thread(run, str(payload), "--url", url)
    assert refused.exit_code == 1 and "401 issue_comment" in refused.output


def test_a_service_that_is_not_there_is_said_with_exit_code_1(payload: Path) -> None:
    gone = run(str(payload), "--url", "http://127.0.0.1:1")
    assert gone.exit_code == 1 and "does not answer" in gone.output


def test_what_cannot_be_sent_ends_with_exit_code_2(payload: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(str(payload.parent / "none.json")).exit_code == 2
    assert "--event" in run("-", stdin=b"not json").output
    assert run("-", stdin=b'{"a": 1}').exit_code == 2
    monkeypatch.setenv("GREENLOOP_WEBHOOK_SECRETS", "")
    assert "GREENLOOP_WEBHOOK_SECRETS" in run(str(payload)).output


@pytest.mark.parametrize(
    ("payload", "event"),
    [
        (COMMENT, "issue_comment"),
        ({"action": "created", "comment": {}, "pull_request": {}}, "pull_request_review_comment"),
        ({"action": "submitted", "review": {}, "pull_request": {}}, "pull_request_review"),
        ({"action": "opened", "pull_request": {}, "number": 1}, "pull_request"),
        ({"action": "opened", "issue": {}}, "issues"),
        ({"action": "completed", "check_run": {"check_suite": {}}}, "check_run"),
        ({"action": "completed", "check_suite": {}}, "check_suite"),
        ({"action": "completed", "workflow_run": {}, "workflow": {}}, "workflow_run"),
        ({"ref": "refs/heads/main", "commits": [], "repository": {}}, "push"),
        ({"sha": "1", "state": "success", "commit": {}, "repository": {}}, "status"),
        ({"zen": "x", "hook_id": 1}, "ping"),
        ({"action": "created", "installation": {}, "repositories": []}, "installation"),
        ({"action": "added", "installation": {}, "repositories_added": []}, "installation_repositories"),
        ({"action": "renamed", "repository": {}, "changes": {}, "sender": {}}, "repository"),
    ],
)
def test_the_event_is_read_off_the_payload(payload: dict[str, Any], event: str) -> None:
    assert event_of(json.dumps(payload).encode()) == event
