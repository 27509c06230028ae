"""Sessions that begin outside GitHub: no issue, the same loop."""

from pathlib import Path

import httpx

from github.webhooks.outcomes import Actor
from loops.sessions.known_accounts import remember_person
from tests.e2e.house import REPOSITORY, house

TOKEN = "a-long-random-token"
RIGHT = "pathlib.Path('value.txt').write_text('right' if 'make it right' in prompt else 'wrong')"
RULES = {".github/greenloop.yml": "branch_prefix: robots/\n"}


async def test_a_session_started_over_http_ends_green_under_the_repositorys_settings(tmp_path: Path) -> None:
    async with house(tmp_path, api_token=TOKEN, files=RULES) as home:
        home.agent(RIGHT)
        # a person and a repository are known from what they did on GitHub
        number = await home.issue()
        await home.comment(number, "@greenloop help")
        await home.handled("issue_comment")
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=home.settings.public_url, headers=headers) as api:
            asked = {"repository": REPOSITORY, "instruction": "make it right", "max_steps": 50}
            started = await api.post("/api/v1/sessions", json=asked)
            assert started.status_code == 201, started.text
            session = await home.ended()
            shown = (await api.get(started.headers["location"])).json()
        assert (shown["status"], shown["outcome"], shown["pull_request"]) == ("completed", "green", session.pull_number)
        assert shown["branch"].startswith("robots/")
        assert [turn.limits["steps"] for turn in await home.turns()] == [50]
        pull = await home.get(f"pulls/{session.pull_number}")
        assert (pull["draft"], pull["base"]["ref"], pull["title"]) == (False, "main", "make it right")


async def test_a_person_without_write_access_is_refused_before_anything_runs(tmp_path: Path) -> None:
    async with house(tmp_path, api_token=TOKEN) as home:
        number = await home.issue()
        await home.comment(number, "@greenloop help")
        await home.handled("issue_comment")
        async with home.database.write() as tx:
            await remember_person(tx, Actor(home.local.user("bob").id, "bob"), 1000)
        headers = {"authorization": f"Bearer {TOKEN}"}
        async with httpx.AsyncClient(base_url=home.settings.public_url, headers=headers) as api:
            asked = {"repository": REPOSITORY, "instruction": "make it right", "person": "bob"}
            assert (await api.post("/api/v1/sessions", json=asked)).status_code == 201
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "no_access")
        assert session.notes == [f"bob has no write access to {REPOSITORY}."]
