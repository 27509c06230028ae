"""A repository's own settings, each by what it changes."""

import base64
import json
from pathlib import Path
from typing import Any

from tests.e2e.house import House, house

PATH = ".github/greenloop.yml"
RIGHT = "pathlib.Path('value.txt').write_text('right')"
OTHER = "name: Deploy\non: [push]\njobs: {deploy: {runs-on: ubuntu-latest, steps: [{run: exit 1}]}}\n"


def files(**found: Any) -> dict[str, str]:
    return {PATH: json.dumps(found)}


async def change_settings(home: House, text: str, branch: str = "main") -> None:
    known = await home.http("alice").get(f"/repos/acme/widgets/contents/{PATH}", params={"ref": branch})
    body = {"message": "Settings", "content": base64.b64encode(text.encode()).decode(), "branch": branch}
    body |= {"sha": known.json()["sha"]} if known.is_success else {}
    await home.post("alice", f"contents/{PATH}", body, method="PUT")


async def test_each_setting_shows_in_a_session(tmp_path: Path) -> None:
    wanted = files(
        runtime="command",
        label="fix-me",
        checks={"ignore": ["dep*"], "settle_seconds": 1},
        limits={"attempts": 7, "minutes": 2, "steps": 11, "tokens": 2000, "cost": 1.5, "files": 5},
        branch_prefix="bot/",
        draft_until_green=False,
        instructions="Be brief, said the settings.",
    )
    async with house(tmp_path, files=wanted | {".github/workflows/d.yml": OTHER}, runtime="claude") as home:
        home.agent(f"assert 'Be brief, said the settings.' in prompt; {RIGHT}")
        number = await home.issue()
        await home.post("alice", f"issues/{number}/labels", {"labels": ["greenloop"]})
        (other,) = [each for each in await home.handled("issues", 2) if each.action == "labeled"]
        assert (other.decision, other.reason) == ("ignored", "the label 'greenloop' is not ours")
        await home.post("alice", f"issues/{number}/labels", {"labels": ["Fix-Me"]})
        session = await home.ended()
        (turn,) = await home.turns()
        pull = await home.get(f"pulls/{session.pull_number}")
        opened = [each for each in await home.handled("pull_request", 0) if each.action == "ready_for_review"]
    assert (session.outcome, session.trigger, session.cap) == ("green", "labeled", 7)
    assert (turn.runtime, pull["head"]["ref"]) == ("command", f"bot/{number}-make-it-right")
    assert opened == [] and not pull["draft"]
    limits = {"seconds": 120, "steps": 11, "session_tokens": 2000, "session_cost": 1.5, "changed_files": 5}
    assert {name: turn.limits[name] for name in limits} == limits
    assert [each["name"] for each in (session.checks or {})["green"]] == ["test", "test"]


async def test_only_required_checks_count_where_the_settings_say_so(tmp_path: Path) -> None:
    wanted = files(checks={"required_only": True})
    async with house(tmp_path, files=wanted | {".github/workflows/d.yml": OTHER}) as home:
        home.local.protect("acme/widgets", "main", contexts=["test"])
        home.agent(RIGHT)
        await home.comment(await home.issue(), "@greenloop fix it")
        session = await home.ended()
    assert (session.outcome, {each["name"] for each in (session.checks or {})["green"]}) == ("green", {"test"})


async def test_settings_on_another_branch_do_not_count_and_newer_ones_on_the_default_branch_do(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        home.agent(RIGHT)
        tip = (await home.get("git/ref/heads/main"))["object"]["sha"]
        await home.post("alice", "git/refs", {"ref": "refs/heads/topic", "sha": tip})
        await change_settings(home, "branch_prefix: evil/\n", "topic")
        await home.comment(await home.issue(), "@greenloop fix it --base topic")
        first = await home.ended()
        await change_settings(home, "branch_prefix: good/\n")
        await home.comment(await home.issue(), "@greenloop fix it")
        second = await home.ended(sessions=2)
    assert (first.branch or "").startswith("greenloop/") and (second.branch or "").startswith("good/")


async def test_what_is_no_file_in_its_place_is_said_and_a_link_to_one_is_followed(tmp_path: Path) -> None:
    folder = tmp_path / "source" / ".github"
    folder.mkdir(parents=True)
    (folder / "greenloop.yml").symlink_to("../settings.yml")
    async with house(tmp_path, files={"settings.yml": "branch_prefix: linked/\n"}) as home:
        home.agent(RIGHT)
        await home.comment(await home.issue(), "@greenloop fix it")
        linked = await home.ended()
    assert (linked.branch or "").startswith("linked/")
    async with house(tmp_path / "other", files={f"{PATH}/readme": "a folder"}) as home:
        home.agent(RIGHT)
        number = await home.issue()
        await home.comment(number, "@greenloop fix it")
        session = await home.ended()
        told = [each for each in await home.bot_comments(number) if PATH in each]
    assert session.outcome == "green" and len(told) == 1 and "is a directory, and no file" in told[0]


async def test_a_broken_file_is_said_once_in_place_and_the_defaults_hold(tmp_path: Path) -> None:
    async with house(tmp_path, files={PATH: "branch_prefix: x/\ntest_guard: loud\n"}) as home:
        home.agent(RIGHT)
        number = await home.issue()
        await home.comment(number, "@greenloop fix it")
        session = await home.ended()
        await change_settings(home, "\n\n\nlimits: 5\n")
        home.agent("pathlib.Path('more.txt').write_text('x')")
        await home.comment(number, "@greenloop more")
        await home.handled("issue_comment", 2)
        await home.ended()
        told = [each for each in await home.bot_comments(number) if PATH in each]
    assert (session.outcome, (session.branch or "").startswith("greenloop/")) == ("green", True)
    assert len(told) == 1 and "line 4" in told[0] and "`limits`" in told[0] and "defaults hold" in told[0]
