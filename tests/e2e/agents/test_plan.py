"""What an agent means to do, and how far it is: shown while it works, in the comment and on the session's page."""

import os
from itertools import pairwise
from pathlib import Path

import httpx
import pytest
from sqlalchemy import select

from loops.comments.update_comment import KIND
from loops.sessions.plan_pace import EDIT_SECONDS
from loops.store.states import TurnStatus
from loops.store.tables import Effect
from tests.e2e.house import House, house
from tests.e2e.ownloop import HEAD, install

EDITS = 3
AGENT = f"""{HEAD}
import threading
over = threading.Event()
threading.Thread(target=lambda: (wait(), over.set()), daemon=True).start()
tell("session", id="c1")
step = 0
while not over.is_set():
    step += 1
    now = {{"text": f"Step {{step}} of GET /health", "state": "active"}}
    last = {{"text": "Tell `@bob` <!-- ", "state": "pending"}}
    tell("plan", items=[{{"text": "Look", "state": "done"}}, now, last])
    over.wait(0.2)
edited("value.txt")
done()
"""


async def test_a_check_list_is_shown_while_its_agent_works_and_edited_now_and_then(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", tmp_path / "agent.py")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    async with house(tmp_path, turn_seconds=600) as home:
        await home.account(provider="scripted", base_url="http://127.0.0.1:9/v1", model="m")
        home.agent(AGENT)
        number = await home.issue()
        await home.comment(number, "@greenloop go on --runtime native")
        told: dict[float, str] = {}

        async def shown() -> bool:
            at = await _edited_at(home)
            body = "".join(await home.bot_comments(number))
            if at and "Its plan" in body:
                told.setdefault(at, body)
            return len(told) >= EDITS

        await home.until(shown)
        assert all(later - earlier >= EDIT_SECONDS for earlier, later in pairwise(told))
        body = list(told.values())[-1]
        assert "**Its plan**, 1 of 3 done:\n- [x] Look\n- [ ] **now:** Step " in body
        assert "of GET /health\n" in body, "what an agent says passes as it is"
        assert "@bob" not in body and "<!-- '" not in body
        assert "Its plan" not in await _page(home)
        assert (await _page(home)).count("☑ Look") == 1, "the page shows the list as it is now"
        home.let_go()
        session = await home.ended()
        assert session.outcome == "green", await home.describe()
        assert "Its plan" not in (await home.bot_comments(number))[0]
        assert (await home.turns())[0].status is TurnStatus.DONE


async def _edited_at(home: House) -> float | None:
    async with home.database.read() as tx:
        return (await tx.execute(select(Effect.at).where(Effect.kind == KIND, Effect.digest.is_not(None)))).scalar()


async def _page(home: House) -> str:
    (session,) = await home.sessions()
    async with httpx.AsyncClient() as http:
        return (await http.get(f"{home.settings.public_url}/sessions/{session.public_id}")).text
