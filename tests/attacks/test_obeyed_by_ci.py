"""A reader's fork, or an agent, changes what CI does: nothing of it is on a branch of ours before a person says so."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.e2e.acts import RIGHT, asked
from tests.e2e.house import House, house
from tests.e2e.publishing.test_forks import contribution, push

ACTION = ".github/actions/test/action.yml"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[House]:
    async with house(tmp_path) as opened:
        opened.local.add_user("carol")
        opened.local.set_permission("acme/widgets", "carol", "read")
        yield opened


async def test_of_a_fork_it_is_named_before_anybody_approves(home: House) -> None:
    number, _ = await contribution(home, ACTION)
    await push(home, "src/.npmrc", "registry=http://elsewhere.example")
    home.agent(RIGHT)
    await home.comment(number, "@greenloop make the check pass")
    session = await home.ended()
    assert (session.reason, await home.get("pulls?state=all&head=acme:x")) == ("fork_unapproved", [])
    (comment,) = await home.bot_comments(number)
    assert "Of the 2 files" in comment
    assert "- `.github/actions/test/action.yml`" in comment and "- `src/.npmrc`" in comment


async def test_of_an_agent_it_is_refused_with_the_way_out(home: House) -> None:
    home.agent(f"p = pathlib.Path({ACTION!r}); p.parent.mkdir(parents=True); p.write_text('runs: {{}}')\n{RIGHT}")
    number = await asked(home, "make it right")
    session = await home.ended()
    assert (session.reason, session.pull_number) == ("push_refused", None)
    (comment,) = await home.bot_comments(number)
    assert f"`{ACTION}` is protected by `action.yml`" in comment and "`!action.yml` in `protected_paths`" in comment
    assert [each["name"] for each in await home.get("branches")] == ["main"]
