"""One REST call on its way through a handler."""

from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from github.emulator.actor import Actor
from github.emulator.errors import Refusal, invalid, not_found
from github.emulator.forge import Forge
from github.emulator.git import diff
from github.emulator.hub import Hub
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.emulator.store.users import User

MAX_BODY = 65_536
MAX_TITLE = 256


@dataclass(frozen=True)
class Answer:
    """What a handler gives back: a body for JSON, or bytes with their media type."""

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)
    media: str = "application/json; charset=utf-8"
    empty: bool = False


@dataclass(frozen=True)
class Listing:
    """A list to be cut into pages. `show` makes the JSON of one item; `wrap` names the key of a wrapped list."""

    items: list[Any]
    show: Callable[[Any], Any]
    wrap: str | None = None
    extra: Mapping[str, Any] = field(default_factory=dict)


def diff_answer(call: "Call", resource: str, old: str, new: str) -> Answer:
    """A difference as text; 406 `too_large` beyond GitHub's limits."""
    try:
        text = diff.limited(call.repository.git, old, new)
    except diff.DiffTooLarge as error:
        flaw = {"resource": resource, "field": "diff", "code": "too_large"}
        raise Refusal(406, str(error), {"errors": [flaw]}) from error
    return Answer(200, text.encode(), media="application/vnd.github.diff; charset=utf-8")


@dataclass
class Call:
    """The call: path parameters, query, JSON body, caller, and the repository where the path names one."""

    hub: Hub
    method: str
    path: str
    template: str
    params: dict[str, str]
    query: dict[str, str]
    headers: Mapping[str, str]
    actor: Actor
    body: Any = None
    version: str = "2022-11-28"
    found: Repository | None = None

    @property
    def store(self) -> Store:
        return self.hub.store

    @property
    def forge(self) -> Forge:
        return self.hub.forge

    @property
    def repository(self) -> Repository:
        if self.found is None:
            raise not_found()
        return self.found

    @property
    def user(self) -> User:
        """Who acts; only where the route asks for somebody."""
        if self.actor.user is None:
            raise Refusal(401, "Requires authentication")
        return self.actor.user

    def lags(self, what: str, thing: Hashable, written: datetime | None) -> bool:
        """Whether a fault hides `thing`, written at that moment; what is older than this server was there always."""
        return written is not None and self.hub.faults.lags(what, thing, (self.store.now() - written).total_seconds())

    def ref_lags(self, what: str, repository: Repository, ref: str) -> bool:
        """The same for a full ref as it is now."""
        moved = repository.moved.get(ref)
        return self.lags(what, (repository.id, ref, moved), moved)

    def number(self, name: str) -> int:
        """A numeric path parameter; 404 when it is none."""
        text = self.params[name]
        if not text.isascii() or not text.isdigit():
            raise not_found()
        return int(text)

    def get(self, name: str, default: Any = None) -> Any:
        return self.body.get(name, default) if isinstance(self.body, dict) else default

    def text(self, name: str, resource: str) -> str:
        """A required string of the body; 422 `missing_field` or `invalid` otherwise."""
        value = self.get(name)
        if value is None:
            raise invalid(resource, name, "missing_field")
        if not isinstance(value, str):
            raise invalid(resource, name, "invalid", value=value)
        return value

    def title(self, resource: str) -> str:
        """The title of an issue or pull request: not blank, at most 256 characters."""
        text = self.text("title", resource)
        if not text.strip():
            raise invalid(resource, "title", "missing_field")
        if len(text) > MAX_TITLE:
            raise invalid(resource, "title", "custom", f"title is too long (maximum is {MAX_TITLE} characters)")
        return text

    def checked_body(self, resource: str, value: Any, required: bool = True) -> str | None:
        """A comment's or issue's Markdown: not blank where required, and never too long."""
        if value is None and not required:
            return None
        if not isinstance(value, str) or (required and not value.strip()):
            raise invalid(resource, "body", "missing_field" if value in (None, "") else "invalid")
        if len(value) > MAX_BODY:
            message = f"Body is too long (maximum is {MAX_BODY} characters)"
            raise invalid(resource, "data" if resource == "IssueComment" else "body", "unprocessable", message)
        return value
