"""What a box has of an account: an address and a token of its turn; a login's file where that was switched on."""

import json
import os
from pathlib import Path

import pytest
from sqlalchemy import select

from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Reply
from loops.runtimes.scripted.server import ModelServer
from loops.store.tables import Event
from tests.e2e.acts import asked
from tests.e2e.house import PROVIDER_KEY, house

ASKS = """
import json, urllib.request
body = json.dumps({"model": os.environ["GREENLOOP_MODEL"], "messages": [{"role": "user", "content": prompt}], "tools": [
    {"type": "function", "function": {"name": "shell", "parameters": {"type": "object", "properties": {"x": {}}}}}]})
request = urllib.request.Request(os.environ["GREENLOOP_MODEL_URL"] + "/chat/completions", body.encode(), {
    "authorization": "Bearer " + os.environ["GREENLOOP_MODEL_KEY"], "content-type": "application/json"})
told = json.load(urllib.request.urlopen(request))
pathlib.Path("value.txt").write_text(told["choices"][0]["message"]["content"])
"""
LOGIN = {"claudeAiOauth": {"accessToken": "at-planted-0123", "refreshToken": "rt-planted-0123", "expiresAt": 9e12}}
# in place of Claude Code: notes what it was given, and ends
NOTES = """#!/bin/sh
cat > /dev/null
test -e "$CLAUDE_CONFIG_DIR/.credentials.json" && kind=file || kind=none
{ env; find "$HOME" -type f -exec cat {} +; } > "$0.$kind"
exit 1
"""


async def test_a_program_of_ones_own_asks_the_accounts_model(tmp_path: Path) -> None:
    with ModelServer({"x": Script(Reply("right"))}) as server:
        async with house(tmp_path) as home:
            home.agent(ASKS)
            await home.account(base_url=server.base_url("x", "chat"))
            await asked(home, "make it right --runtime command")
            session = await home.ended()
            assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
            (turn,) = await home.turns()
            assert (turn.input_tokens, turn.output_tokens, turn.booked) == (140, 20, 1)
    assert [each.key for each in server.requests("x")] == [PROVIDER_KEY]


@pytest.mark.parametrize("switched_on", [False, True])
async def test_a_logins_file_is_in_a_box_only_where_whoever_runs_the_service_wants_it(
    switched_on: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "bin").mkdir()
    program = tmp_path / "bin/claude"
    program.write_text(NOTES)
    program.chmod(0o755)
    monkeypatch.setenv("PATH", f"{program.parent}:{os.environ['PATH']}")
    async with house(tmp_path, run=None, box_logins=switched_on) as home:
        about = {"provider": "anthropic", "credential_kind": "anthropic_oauth_json", "base_url": None}
        await home.account(json.dumps(LOGIN), **about)
        await asked(home, "make it right --runtime claude")
        await home.ended()
        async with home.database.read() as tx:
            told = json.dumps([event.payload for event in (await tx.execute(select(Event))).scalars()])
    (noted,) = program.parent.glob("claude.*")
    assert noted.suffix == (".file" if switched_on else ".none")
    assert (b"rt-planted-0123" in noted.read_bytes()) is switched_on
    assert (b"CLAUDE_CODE_OAUTH_TOKEN=glm_" in noted.read_bytes()) is not switched_on
    assert ("is in this box (GREENLOOP_BOX_LOGINS)" in told) is switched_on
