"""Comments and reactions. The sticky comment carries a hidden marker, so it is found again and never posted twice."""

import re
from collections import deque
from collections.abc import AsyncIterator
from dataclasses import dataclass
from enum import Enum
from functools import partial
from typing import Any

from github.client.app import Identity
from github.client.defuse import outgoing
from github.client.errors import Forbidden, GitHubError, Gone, Invalid, NotFound
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.client.text import MAX_BODY, clip, length
from github.repositories.queries import COMMENTS
from github.webhooks.sources import Source, Where

EYES = "eyes"
ROCKET = "rocket"
CONFUSED = "confused"
THUMBS_UP = "+1"

_MARKER = re.compile(r"<!-- greenloop:([\w:-]+) -->")
_GRAPHQL = {EYES: "EYES", ROCKET: "ROCKET", CONFUSED: "CONFUSED", THUMBS_UP: "THUMBS_UP"}
_REACT = """mutation($id: ID!, $content: ReactionContent!) {
  addReaction(input: {subjectId: $id, content: $content}) { reaction { content } }
}"""


@dataclass(frozen=True, slots=True)
class Posted:
    """A comment of ours; `at` is when it was written or edited last, in GitHub's form."""

    id: int
    node_id: str
    url: str
    body: str
    at: str = ""


@dataclass(frozen=True, slots=True)
class Said:
    """A comment of somebody else's; `at` in GitHub's form."""

    author: str
    body: str
    at: str


def marker(key: str) -> str:
    """The hidden first line of our comment for `key`, for example a session's id."""
    if not key.replace("-", "").replace("_", "").replace(":", "").isalnum():
        raise ValueError(f"{key!r} cannot stand in a marker: letters, digits, '-', '_' and ':' only")
    return f"<!-- greenloop:{key} -->"


def marked(key: str, body: str) -> str:
    """`body`, defused, under its marker, within GitHub's limit."""
    line = marker(key) + "\n"
    return line + outgoing(body, partial(clip, limit=MAX_BODY - length(line)))


async def put_sticky(
    repository: RepositoryHandle, number: int, key: str, body: str, *, comment_id: int | None = None, new: bool = False
) -> Posted:
    """Make the comment for `key` on issue or pull request `number` say `body`: create it once, then edit it in place.

    `comment_id` is where it was last time; if somebody deleted it, another is made. `new`: it was surely never made,
    and is not looked for. Raises Gone for a deleted issue.
    """
    text = marked(key, body)
    if comment_id is not None:
        try:
            return await _edit(repository, comment_id, text)
        except (NotFound, Gone):
            pass
    if new:
        return await _post(repository, number, text)
    if found := await find_sticky(repository, number, key):
        return found if found.body == text else await _edit(repository, found.id, text)
    posted = await _post(repository, number, text)
    return await find_sticky(repository, number, key) or posted


async def find_sticky(repository: RepositoryHandle, number: int, key: str) -> Posted | None:
    """Our comment with the marker of `key`: the oldest, if two processes were equally quick; the others are deleted."""
    line = marker(key)
    found = [each async for each in _ours(repository, number) if each.body.startswith(line)]
    for extra in found[1:]:
        await delete(repository, extra.id)
    return found[0] if found else None


async def keys_since(repository: RepositoryHandle, number: int, at: str, *, max_age: float = 0.0) -> list[str]:
    """The keys of our marked comments there that were written or edited after `at` (GitHub's form). The list of the
    last `max_age` seconds will do."""
    ours = [each async for each in _ours(repository, number, max_age) if each.at > at]
    return [found[1] for each in ours if (found := _MARKER.match(each.body))]


async def said_by_others(
    repository: RepositoryHandle,
    number: int,
    *,
    after: str,
    until: str,
    but: int = 0,
    limit: int = 100,
    max_age: float = 0.0,
) -> list[Said]:
    """The last comments there, oldest first, that were written after `after` (GitHub's form) and stood as they are at
    `until`: what was edited since may be meant to deceive. `but` is the id of one that is known otherwise. The list of
    the last `max_age` seconds will do.
    """
    me = await repository.app.identity()
    found: deque[Said] = deque(maxlen=limit)
    async for each in _listed(repository, number, max_age):
        written, edited = str(each.get("created_at") or ""), str(each.get("updated_at") or "")
        if after < written and max(written, edited) <= until and each.get("id") != but and not _is_by(me, each):
            found.append(
                Said(str((each.get("user") or {}).get("login") or "ghost"), str(each.get("body") or ""), written)
            )
    return list(found)


async def delete(repository: RepositoryHandle, comment_id: int) -> None:
    """Delete a comment; one that is gone is fine."""
    try:
        path = f"issues/comments/{comment_id}"
        await repository.request("DELETE", path, scope=Scope.TALK)
    except (NotFound, Gone):
        return


async def still_there(repository: RepositoryHandle, number: int, source: Source, *, max_age: float = 0.0) -> bool:
    """Whether the comment that asked was not deleted since, or within the last `max_age` seconds. `number` is the
    thread's, 0 where it is not known.

    A comment of a thread is looked for in its list, which is asked for anyway; one that is not there may only be late.
    """
    paths = {Where.COMMENT: "issues/comments", Where.INLINE: "pulls/comments"}
    if source.where not in paths:
        return True
    if source.where is Where.COMMENT and number:
        async for each in _listed(repository, number, max_age):
            if each.get("id") == source.id:
                return True
    try:
        await repository.get(f"{paths[source.where]}/{source.id}")
    except (NotFound, Gone):
        return False
    return True


class Reacted(Enum):
    """What came of a reaction. STANDS: we had reacted so before. UNKNOWN: it is there, and GitHub does not say since
    when. IMPOSSIBLE: a button, or a deleted or locked text."""

    NEW = 1
    STANDS = 2
    UNKNOWN = 3
    IMPOSSIBLE = 4


async def react(repository: RepositoryHandle, number: int, source: Source, content: str = EYES) -> Reacted:
    """React to the text that asked. Twice is once."""
    paths = {
        Where.ISSUE: f"issues/{number}",
        Where.PULL: f"issues/{number}",
        Where.COMMENT: f"issues/comments/{source.id}",
        Where.INLINE: f"pulls/comments/{source.id}",
    }
    try:
        if source.where is Where.REVIEW:
            await repository.graphql(_REACT, {"id": source.node_id, "content": _GRAPHQL[content]})
            return Reacted.UNKNOWN
        if source.where not in paths:
            return Reacted.IMPOSSIBLE
        path = f"{paths[source.where]}/reactions"
        answer = await repository.request("POST", path, scope=Scope.TALK, json={"content": content})
        return Reacted.NEW if answer.status == 201 else Reacted.STANDS
    except (NotFound, Gone, Invalid, Forbidden):
        return Reacted.IMPOSSIBLE


async def _post(repository: RepositoryHandle, number: int, body: str) -> Posted:
    path = f"issues/{number}/comments"
    return _posted((await repository.request("POST", path, scope=Scope.TALK, json={"body": body})).json())


async def _edit(repository: RepositoryHandle, comment_id: int, body: str) -> Posted:
    path = f"issues/comments/{comment_id}"
    answer = await repository.request("PATCH", path, scope=Scope.TALK, json={"body": body})
    return _posted(answer.json())


async def _ours(repository: RepositoryHandle, number: int, max_age: float = 0.0) -> AsyncIterator[Posted]:
    """Our own comments, oldest first: anybody could copy a marker into theirs."""
    me = await repository.app.identity()
    async for each in _listed(repository, number, max_age):
        if _is_by(me, each):
            yield _posted(each)


async def _listed(repository: RepositoryHandle, number: int, max_age: float) -> AsyncIterator[Any]:
    """The comments of a thread, oldest first, as they were within the last `max_age` seconds."""
    if (told := repository.app.told.get(repository.id, COMMENTS, str(number), max_age)) is not None:
        for known in told[0]:
            yield known
        return
    async for each in repository.pages(f"issues/{number}/comments", limit=5000, max_age=max_age):
        yield each


def _is_by(me: Identity, comment: dict[str, Any]) -> bool:
    through, author = comment.get("performed_via_github_app") or {}, comment.get("user") or {}
    return bool(through.get("id") == me.app_id or author.get("login") == me.login)


def _posted(found: dict[str, Any]) -> Posted:
    if "id" not in found:
        raise GitHubError("GitHub's answer to a comment has no id")
    return Posted(
        int(found["id"]),
        str(found.get("node_id") or ""),
        str(found.get("html_url") or ""),
        str(found.get("body") or ""),
        str(found.get("updated_at") or found.get("created_at") or ""),
    )
