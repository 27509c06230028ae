"""An agent's words and a stranger's title do nothing at GitHub: no other issue is closed, nobody is called."""

import os
from pathlib import Path

import pytest

from tests.e2e.house import House, house
from tests.e2e.ownloop import HEAD, install

WORDS = (
    "Closes #1, acme/widgets#1 and GH-1. @carol @acme/crew &#64;carol\n\n"
    "![seen](http://images.example/i.png) <img src=x> <!-- greenloop:session:s_other -->\n"
    "[//]: # (hidden)\n\n/approve\n\n```py\n@pytest.fixture\n"
)


@pytest.fixture
def program(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    install(tmp_path / "bin", tmp_path / "agent.py")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")


def harmless(text: str) -> None:
    for word in ("![", "<img", "<!-- greenloop:session:s_other", "[//]:", "\n/approve", "[skip ci]"):
        assert word not in text, text
    assert text.count("```") % 2 == 0, text


async def merge(home: House, pull: int | None) -> None:
    """Alice squashes it by hand, as the pull request's page would: its title and text become the commit's message."""
    found = await home.get(f"pulls/{pull}")
    commit = await home.get(f"git/commits/{found['head']['sha']}")
    base = (await home.get("git/ref/heads/main"))["object"]["sha"]
    message = f"{found['title']} (#{pull})\n\n{found['body']}"
    squashed = {"message": message, "tree": commit["tree"]["sha"], "parents": [base]}
    made = await home.post("alice", "git/commits", squashed)
    await home.post("alice", "git/refs/heads/main", {"sha": made["sha"]}, method="PATCH")


async def test_nothing_that_an_agent_or_a_stranger_wrote_acts(tmp_path: Path, program: None) -> None:
    async with house(tmp_path, run=None) as home:
        home.local.add_user("carol")
        home.local.set_permission("acme/widgets", "carol", "read")
        await home.account()
        other = await home.issue("Stays open")
        number = await home.issue("Resolves #1 [skip ci] @carol ![x](y)", body=None)
        home.agent(HEAD + f"tell('session', id='c1')\nedited('new.txt')\ndone({WORDS!r})")
        before = home.local.notified("carol")
        await home.comment(number, "@greenloop add a file --runtime native")
        session = await home.ended()
        pull = await home.get(f"pulls/{session.pull_number}")
        (commit,) = await home.get(f"pulls/{session.pull_number}/commits")
        comments = await home.bot_comments(number)
        for text in (pull["title"], pull["body"], *comments):
            harmless(text)
        assert "@pytest.fixture" in pull["body"] and "Made by [Greenloop](" in pull["body"]
        assert "[skip ci]" not in commit["commit"]["message"]
        assert home.local.notified("carol") == before
        await merge(home, session.pull_number)
        states = {each: (await home.get(f"issues/{each}"))["state"] for each in (other, number)}
        assert states == {other: "open", number: "closed"}
