"""GitHub answers 5xx or 429 while a worker starts."""

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from structlog.testing import capture_logs

from app.process import worker
from app.process.wiring import open_loop
from app.settings import Settings
from github.client.errors import ServerFault, Unauthorized
from github.emulator.local import LocalGitHub
from tests.databases import on_sqlite

BAD_DAYS = [("error", {"status": 503}), ("secondary_limit", {"status": 429, "retry_after": 3600})]


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[LocalGitHub]:
    async with LocalGitHub(tmp_path / "github") as opened:
        opened.add_repository("octo/app")
        opened.install("octo")
        yield opened


@pytest.fixture
def settings(local: LocalGitHub, tmp_path: Path, database_url: str, redis_url: str) -> Settings:
    return Settings(
        data=tmp_path,
        database_url=database_url,
        redis_url=redis_url,
        app_id=local.app.id,
        app_private_key=local.app.private_key,
        encryption_keys=Fernet.generate_key().decode(),
        github_api_url=local.api_url,
        github_web_url=local.web_url,
    )


@pytest.mark.parametrize(("kind", "how"), BAD_DAYS, ids=["503", "429"])
async def test_a_process_that_starts_while_github_is_away_knows_who_we_are_from_an_earlier_one(
    local: LocalGitHub, settings: Settings, kind: str, how: dict[str, int]
) -> None:
    async with open_loop(settings, settings.redis_url, "the first") as loop:
        before = loop.me, await loop.github.identity()
    local.add_fault(kind, path="/app", **how)
    async with open_loop(settings, settings.redis_url, "the second") as loop:
        assert (loop.me, await loop.github.identity()) == before


@on_sqlite
async def test_what_is_kept_of_another_app_is_not_believed(local: LocalGitHub, settings: Settings) -> None:
    async with open_loop(settings, settings.redis_url, "the first"):
        pass
    local.add_fault("error", path="/app", status=503)
    other = settings.model_copy(update={"app_id": settings.app_id + 1})
    with pytest.raises((ServerFault, Unauthorized)):
        async with open_loop(other, settings.redis_url, "the second"):
            pass


@on_sqlite
@pytest.mark.parametrize(("kind", "how"), [BAD_DAYS[0], (BAD_DAYS[1][0], {"status": 429, "retry_after": 1})])
async def test_a_first_worker_waits_for_github_in_one_line_and_then_works(
    local: LocalGitHub, settings: Settings, monkeypatch: pytest.MonkeyPatch, kind: str, how: dict[str, int]
) -> None:
    monkeypatch.setattr(worker, "GITHUB_PAUSE", 0.02)
    rule = local.add_fault(kind, path="/app", **how)
    stop = asyncio.Event()
    with capture_logs() as told:
        working = asyncio.create_task(worker.run(settings, settings.redis_url, stop=stop))
        asked = 0

        def count(*_: object) -> None:
            nonlocal asked
            asked += 1

        local.hub.answer_observers.append(count)
        async with asyncio.timeout(60):
            while not any(each["event"] == "worker.waits" for each in told):
                await asyncio.sleep(0.01)
            asked = 0
            while asked < 2:
                await asyncio.sleep(0.01)
            assert not working.done()
            local.hub.faults.rules.remove(rule)
            while not any(each["event"] == "worker.start" for each in told):
                await asyncio.sleep(0.01)
            stop.set()
            await working
    assert [each["event"] for each in told if each["event"] == "worker.waits"] == ["worker.waits"]


@on_sqlite
async def test_a_wrong_key_still_ends_the_worker(local: LocalGitHub, settings: Settings) -> None:
    local.add_fault("error", path="/app", status=401)
    with pytest.raises(Unauthorized):
        await worker.run(settings, settings.redis_url, stop=asyncio.Event())
