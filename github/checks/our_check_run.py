"""Our own check run on a head commit: what Greenloop is doing, with up to three buttons."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from github.client.defuse import defused_plain, outgoing
from github.client.errors import NotFound
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.client.text import clip_bytes

NAME = "Greenloop"
MAX_ACTIONS = 3
MAX_TITLE = 255
MAX_NOTES = 50


@dataclass(frozen=True, slots=True)
class Button:
    """A button under our check run. GitHub takes labels up to 20, descriptions up to 40, identifiers up to 20."""

    label: str
    description: str
    identifier: str

    def __post_init__(self) -> None:
        for name, value, most in (
            ("label", self.label, 20),
            ("description", self.description, 40),
            ("identifier", self.identifier, 20),
        ):
            if not value or len(value) > most:
                raise ValueError(f"a button's {name} has 1 to {most} characters, {value!r} has {len(value)}")


@dataclass(frozen=True, slots=True)
class Note:
    """A remark of our check run on one line of a file; `path` is relative to the repository's root."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class OwnCheck:
    """What the check run shows. `conclusion` "" while it runs; else success, failure, neutral, cancelled, skipped,
    timed_out or action_required. `external_id` is the session's id, by which it is found again."""

    sha: str
    external_id: str
    title: str
    summary: str
    text: str = ""
    conclusion: str = ""
    details_url: str = ""
    buttons: Sequence[Button] = ()
    name: str = NAME


async def put_check(
    repository: RepositoryHandle, wanted: OwnCheck, *, check_run_id: int | None = None, new: bool = False
) -> int:
    """Create or update our check run on `wanted.sha`; its id. Doing it twice changes nothing.

    `check_run_id` is where it was last time; without it, it is looked up by name and `external_id`, unless it is surely
    `new`.
    """
    body = _body(wanted, repository.app.clock.now())
    found = check_run_id or (None if new else await find_check(repository, wanted))
    if found is not None:
        try:
            path = f"check-runs/{found}"
            await repository.request("PATCH", path, scope=Scope.TALK, json=body)
            return found
        except NotFound:
            pass
    created = {**body, "head_sha": wanted.sha}
    answer = await repository.request("POST", "check-runs", scope=Scope.TALK, json=created)
    return int(answer.json()["id"])


async def annotate(repository: RepositoryHandle, check_run_id: int, notes: Sequence[Note]) -> None:
    """Put `notes` on our check run, unless it has some already: GitHub adds the ones of an update to those before.

    At most MAX_NOTES of them, as many as one request takes.
    """
    path = f"check-runs/{check_run_id}"
    output = (await repository.request("GET", path, scope=Scope.TALK)).json()["output"]
    if output.get("annotations_count"):
        return
    annotations = [
        {
            "path": note.path,
            "start_line": note.line,
            "end_line": note.line,
            "annotation_level": "failure",
            "message": clip_bytes(defused_plain(note.message)) or "red",
        }
        for note in notes[:MAX_NOTES]
    ]
    said = {"title": output.get("title") or NAME, "summary": output.get("summary") or "", "annotations": annotations}
    await repository.request("PATCH", path, scope=Scope.TALK, json={"output": said})


async def find_check(repository: RepositoryHandle, wanted: OwnCheck) -> int | None:
    """The id of our check run with this name and `external_id` on this commit; the newest of several."""
    params: dict[str, str | int] = {"check_name": wanted.name, "app_id": repository.app.app_id, "filter": "all"}
    found = [
        int(each["id"])
        async for each in repository.pages(f"commits/{wanted.sha}/check-runs", "check_runs", params=params)
        if each.get("external_id") == wanted.external_id
        and (each.get("app") or {}).get("id") in (None, repository.app.app_id)
    ]
    return max(found, default=None)


def _body(wanted: OwnCheck, now: float) -> dict[str, Any]:
    if len(wanted.buttons) > MAX_ACTIONS:
        raise ValueError(f"a check run has at most {MAX_ACTIONS} buttons, not {len(wanted.buttons)}")
    title = defused_plain(wanted.title)[:MAX_TITLE] or wanted.name
    output = {"title": title, "summary": outgoing(wanted.summary, clip_bytes) or title}
    if wanted.text:
        output["text"] = outgoing(wanted.text, clip_bytes)
    body: dict[str, Any] = {
        "name": wanted.name,
        "external_id": wanted.external_id,
        "status": "completed" if wanted.conclusion else "in_progress",
        "output": output,
        "actions": [
            {"label": each.label, "description": each.description, "identifier": each.identifier}
            for each in wanted.buttons
        ],
    }
    if wanted.details_url:
        body["details_url"] = wanted.details_url
    if wanted.conclusion:
        body["conclusion"] = wanted.conclusion
        body["completed_at"] = datetime.fromtimestamp(now, UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    return body
