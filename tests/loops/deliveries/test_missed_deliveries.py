"""GitHub's log of deliveries, walked by one worker at a time from where the last walk ended."""

import asyncio
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from types import SimpleNamespace
from typing import Any, cast

import httpx
import pytest
from structlog.testing import capture_logs

from github.client.app import GitHubApp
from github.client.scopes import CLONE
from github.emulator.local import LocalGitHub
from github.webhooks import deliveries
from github.webhooks.deliveries import MOST_TRIES, LoggedDelivery
from loops.context import Loop
from loops.deliveries import missed_deliveries
from loops.deliveries.delivery_mark import Mark
from loops.deliveries.missed_deliveries import KEY, redeliver_missed
from loops.store.database import Database
from loops.store.service_state import by_one_process, remembered
from loops.store.tables import Installation

REPOSITORY = "octo/app"


@dataclass
class World:
    """A GitHub whose webhooks reach nobody, and a worker whose clock says that they are not fresh any more."""

    local: LocalGitHub
    database: Database
    github: GitHubApp
    installation: int
    ahead: float = 120.0
    asked: list[str] = field(default_factory=list)

    def loop(self) -> Loop:
        made = SimpleNamespace(database=self.database, github=self.github, clock=lambda: time.time() + self.ahead)
        return cast(Loop, made)

    async def issues(self, count: int) -> None:
        headers = {"authorization": f"token {self.local.user('alice').token}", "user-agent": "test"}
        async with httpx.AsyncClient(base_url=self.local.api_url, headers=headers) as http:
            for number in range(count):
                (await http.post(f"/repos/{REPOSITORY}/issues", json={"title": f"{number}"})).raise_for_status()
        await self.local.idle()

    def requests(self, what: str) -> list[str]:
        return [each for each in self.asked if what in each]

    async def mark(self) -> Mark:
        async with self.database.read() as tx:
            return Mark.read(await remembered(tx, KEY) or {})


@pytest.fixture
async def world(database: Database) -> AsyncIterator[World]:
    async with LocalGitHub() as local:
        local.add_user("alice")
        local.add_repository(REPOSITORY)
        local.set_permission(REPOSITORY, "alice", "write")
        local.set_webhook("http://127.0.0.1:9/")
        installation = local.install("octo").id
        async with database.write() as tx:
            about = {"account_id": 1, "account_login": "octo", "account_type": "User", "updated_at": 0.0}
            tx.add(Installation(id=installation, **about))
        github = GitHubApp(local.app.id, local.app.private_key, api_url=local.api_url)
        made = World(local, database, github, installation)

        def note(template: str, method: str, *_: object) -> None:
            made.asked.append(f"{method} {template}")

        local.hub.answer_observers.append(note)
        yield made
        await github.aclose()


async def test_a_walk_begins_where_the_last_one_ended(world: World) -> None:
    await world.issues(3)
    world.ahead = 600
    assert await redeliver_missed(world.loop()) >= 3
    first = await world.mark()
    world.ahead += 600
    world.asked.clear()
    assert await redeliver_missed(world.loop()) == 0
    assert (len(world.requests("GET")), world.requests("POST")) == (1, [])
    assert (await world.mark()).until > first.until


async def test_of_several_workers_one_walks(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    await world.issues(1)
    async with by_one_process(world.database, KEY, seconds=60, clock=world.loop().clock) as mine:
        assert mine
        assert await redeliver_missed(world.loop()) == 0
        assert world.requests("deliveries") == []
    others_are_done, read_page = asyncio.Event(), deliveries.read_page

    async def held(*about: Any) -> Any:
        await others_are_done.wait()
        return await read_page(*about)

    monkeypatch.setattr(deliveries, "read_page", held)
    ended = asyncio.as_completed([redeliver_missed(world.loop()) for _ in range(3)])
    assert [await next(ended), await next(ended)] == [0, 0]
    others_are_done.set()
    assert await next(ended) >= 1


async def test_who_died_while_walking_holds_the_others_up_for_a_while_only(world: World) -> None:
    loop = world.loop()
    async with by_one_process(world.database, "x", seconds=60, clock=loop.clock) as mine:
        assert mine
        world.ahead += 61
        async with by_one_process(world.database, "x", seconds=60, clock=loop.clock) as other:
            assert other
    # whose time was over gave nothing of the other's back
    async with by_one_process(world.database, "x", seconds=60, clock=loop.clock) as again:
        assert again


async def test_a_long_walk_is_done_in_rounds_and_looks_at_everything(
    world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(deliveries, "FIRST_PAGE", "app/hook/deliveries?per_page=2")
    monkeypatch.setattr(missed_deliveries, "PAGES", 1)
    await world.issues(4)
    guids = {each.guid for each in (await deliveries.read_page(world.github, "app/hook/deliveries?per_page=100"))[0]}
    rounds = 0
    while (await world.mark()).page if rounds else True:
        world.asked.clear()
        await redeliver_missed(world.loop())
        assert len(world.requests("GET")) == 1
        rounds += 1
    assert rounds >= 2
    assert set((await world.mark()).asked) <= guids and len((await world.mark()).asked) >= 4


@pytest.mark.parametrize("status", [403, 429])
async def test_a_limit_that_the_walk_meets_silences_nobody_else_and_is_said_in_a_line(
    world: World, status: int
) -> None:
    await world.issues(1)
    world.local.add_fault("secondary_limit", path="*/hook/deliveries*", status=status, retry_after=600)
    with capture_logs() as told:
        assert await redeliver_missed(world.loop()) == 0
        assert await redeliver_missed(world.loop()) == 0
    assert {(each["event"], each["log_level"]) for each in told} == {("deliveries.walk_stopped", "warning")}
    assert len(world.requests("hook/deliveries")) == 1, "a limit that holds is kept"
    token = await world.github.mint(world.installation, [], CLONE)
    assert token.value
    assert (await world.mark()).until < time.time() - 86400, "nothing counts as looked at"


async def test_a_page_that_github_has_forgotten_begins_the_walk_anew(world: World) -> None:
    await world.issues(1)
    world.local.add_fault("error", method="GET", path="*/hook/deliveries*", status=422, times=1)
    assert await redeliver_missed(world.loop()) == 0
    assert (await world.mark()).page is None
    assert await redeliver_missed(world.loop()) >= 1


def test_a_mark_is_stored_as_it_is() -> None:
    mark = Mark(10.0, since={5: 1.5}, counted=2.0).begin("page", 20.0).ask([_logged("a"), _logged("a"), _logged("b")])
    assert Mark.read(mark.stored()) == mark
    assert mark.asked == {"a": 2, "b": 1}
    assert mark.arrived(["a"]).asked == {"b": 1}
    assert (mark.end().until, mark.end().page) == (20.0, None)


def test_what_was_asked_for_in_vain_again_and_again_is_given_up() -> None:
    assert deliveries.missed([_logged("a")], seen=set(), asked={"a": MOST_TRIES - 1}) == []
    assert len(deliveries.missed([_logged("a")], seen=set(), asked={"a": MOST_TRIES - 2})) == 1


def _logged(guid: str) -> LoggedDelivery:
    return LoggedDelivery(1, guid, "issue_comment", "created", 0.0, False, "timed out", 0, False, 5, 7)
