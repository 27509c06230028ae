"""What people do at the local GitHub, in the words of the tests."""

import base64
import uuid
from collections.abc import Callable
from typing import Any

import httpx
from sqlalchemy import func, select

from github.emulator.acts import checks
from github.emulator.store.checks import CheckRun
from github.webhooks.signature import sign
from loops.store.tables import Delivery
from tests.e2e.house import REPOSITORY, House

RIGHT = "pathlib.Path('value.txt').write_text('right')"
GROW = "value = pathlib.Path('value.txt'); value.write_text(value.read_text() + 'x')"


async def asked(home: House, words: str, title: str = "Add a page") -> int:
    """An issue of Alice's with a mention."""
    number = await home.issue(title)
    await home.comment(number, f"@greenloop {words}")
    return number


async def push(home: House, name: str, content: str, branch: str = "main", login: str = "alice") -> None:
    """A commit of a person's."""
    known = await home.http(login).get(f"/repos/{REPOSITORY}/contents/{name}?ref={branch}")
    body = {"message": f"Change {name}", "content": base64.b64encode(content.encode()).decode(), "branch": branch}
    if known.status_code == 200:
        body["sha"] = known.json()["sha"]
    await home.post(login, f"contents/{name}", body, method="PUT")


async def content(home: House, name: str, branch: str) -> str:
    """A file on a branch."""
    return base64.b64decode((await home.get(f"contents/{name}?ref={branch}"))["content"]).decode()


async def runs(home: House) -> None:
    """Wait until an agent is at work."""

    async def look() -> bool:
        return any(turn.status == "running" for turn in await home.turns())

    await home.until(look)


async def comment_says(home: House, number: int, *words: str) -> str:
    """Wait until the first of our comments there holds all of these words."""

    async def look() -> str | None:
        found = await home.bot_comments(number)
        return found[0] if found and all(word in found[0] for word in words) else None

    return await home.until(look)


def own_check(home: House, sha: str | None) -> CheckRun:
    """Greenloop's check run on a commit."""
    (found,) = [run for run in home.local.store.check_runs if run.name == "Greenloop" and run.suite.head_sha == sha]
    return found


async def press(home: House, sha: str | None, identifier: str, login: str = "alice") -> None:
    """A person presses a button of our check run, as soon as it is there."""
    hub, user = home.local.hub, home.local.user(login)

    async def look() -> CheckRun | None:
        runs = [run for run in home.local.store.check_runs if run.name == "Greenloop" and run.suite.head_sha == sha]
        return next((run for run in runs if any(each["identifier"] == identifier for each in run.actions)), None)

    run = await home.until(look)
    home.local.call(lambda: checks.button_pressed(hub.forge, run, identifier, user))


def said(home: House) -> list[str]:
    """Every text that our comments will have had, in order."""
    bodies: list[str] = []

    def observe(template: str, method: str, status: int, body: Any, _version: str) -> None:
        written = method in ("POST", "PATCH") and status < 300 and template.endswith(("/comments", "/{comment_id}"))
        if written and body["user"]["type"] == "Bot" and (not bodies or bodies[-1] != body["body"]):
            bodies.append(body["body"])

    home.local.observe(answers=observe)
    return bodies


def calls(home: House, wanted: Callable[[str, str], bool]) -> list[str]:
    """The calls of the API, "METHOD template", that are wanted, as they will have been made."""
    made: list[str] = []

    def observe(template: str, method: str, _status: int, _body: Any, _version: str) -> None:
        if wanted(method, template):
            made.append(f"{method} {template}")

    home.local.observe(answers=observe)
    return made


async def deliver_again(home: House, *events: str, action: str | None = None) -> int:
    """Every delivery of these events (of one `action`) once more, under other GUIDs. How many there were."""
    async with home.database.read() as tx:
        wanted = select(Delivery).where(Delivery.event.in_(events))
        wanted = wanted if action is None else wanted.where(Delivery.action == action)
        found = (await tx.execute(wanted)).scalars().all()
        before = (await tx.execute(select(func.count()).select_from(Delivery))).scalar_one()
    async with httpx.AsyncClient() as http:
        for each in found:
            body = each.body or b""
            headers = {
                "X-GitHub-Event": each.event,
                "X-GitHub-Delivery": str(uuid.uuid4()),
                "X-Hub-Signature-256": sign(home.local.app.hook.secret.encode(), body),
                "Content-Type": "application/json",
            }
            url = f"{home.settings.public_url}/webhooks/github"
            assert (await http.post(url, content=body, headers=headers)).status_code == 202

    async def taken() -> bool:
        async with home.database.read() as tx:
            done = select(func.count()).select_from(Delivery).where(Delivery.status == "done")
            return (await tx.execute(done)).scalar_one() >= before + len(found)

    await home.until(taken)
    return len(found)
