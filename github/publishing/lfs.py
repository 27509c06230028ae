"""Git LFS: the contents of large files go beside Git, before the commit whose pointers name them.

Objects are named by their content and GitHub says which it lacks, so all of it may safely happen twice.
https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import structlog

from github.client import errors
from github.client.errors import GitHubError, UnreadableAnswer
from github.client.repository import RepositoryHandle
from github.publishing.trees import ContentOf, TreeMismatch

MEDIA = "application/vnd.git-lfs+json"
MOST_OBJECTS = 100  # GitHub's limit for one batch request
# strictly: guards look at the content in the place of a pointer, so a pointer may say nothing else
_POINTER = re.compile(
    rb"version https://git-lfs\.github\.com/spec/v1\n(?:ext-[0-9]-[a-z0-9]{1,32} sha256:[0-9a-f]{64}\n){0,10}"
    rb"oid sha256:([0-9a-f]{64})\nsize ([0-9]{1,18})\n"
)
_NO_SPACE = (507, 509)  # storage and bandwidth of the account

log = structlog.get_logger()


class LfsRefused(GitHubError):
    """GitHub takes no objects, or nobody has one that a pointer names: nothing was published."""


@dataclass(frozen=True, slots=True)
class LargeFile:
    """A changed file under Git LFS: the blobs of its pointer and of its content. They are one where the content was
    never downloaded, so that GitHub must have it."""

    path: str
    pointer: str
    content: str


@dataclass(frozen=True, slots=True)
class _Object:
    oid: str
    size: int
    file: LargeFile

    def named(self) -> dict[str, Any]:
        return {"oid": self.oid, "size": self.size}


async def upload(repository: RepositoryHandle, files: Iterable[LargeFile], content_of: ContentOf) -> None:
    """See to it that GitHub has the content of every file. `content_of` gives the bytes of a blob by its SHA.

    Raises LfsRefused, TreeMismatch for a pointer that does not name its content, and what `github.client.app` raises.
    """
    objects: dict[str, _Object] = {}
    for file in files:
        found = _read(file, await content_of(file.pointer))
        # of two files with one content, the one that has it
        if found.oid not in objects or file.content != file.pointer:
            objects[found.oid] = found
    wanted = list(objects.values())
    for start in range(0, len(wanted), MOST_OBJECTS):
        await _upload(repository, wanted[start : start + MOST_OBJECTS], content_of)


async def _upload(repository: RepositoryHandle, objects: Sequence[_Object], content_of: ContentOf) -> None:
    answers = await _batch(repository, objects)
    for each in objects:
        answer = answers.get(each.oid)
        if answer is None:
            raise UnreadableAnswer(f"GitHub's LFS says nothing of {each.file.path} ({each.oid}): try again later")
        if refused := answer.get("error"):
            raise LfsRefused(f"GitHub's LFS refuses {each.file.path} ({each.oid}): {_said(refused)}")
        actions = answer.get("actions") or {}
        if "upload" not in actions:
            continue
        if each.file.content == each.file.pointer:
            raise LfsRefused(
                f"{each.file.path} is the pointer to a Git LFS object ({each.oid}) that GitHub does not have: put the "
                "file's content in its place"
            )
        content = await content_of(each.file.content)
        if len(content) != each.size or hashlib.sha256(content).hexdigest() != each.oid:
            raise TreeMismatch(f"{each.file.path}: the stored content is not the object {each.oid}: start again")
        await _put(repository, each, actions, content)
        log.info("lfs.uploaded", repository=repository.id, oid=each.oid, bytes=each.size)


async def _batch(repository: RepositoryHandle, objects: Sequence[_Object]) -> Mapping[str, Mapping[str, Any]]:
    """What GitHub says of each object, by its oid."""
    asked = {"operation": "upload", "transfers": ["basic"], "objects": [each.named() for each in objects]}
    try:
        answer = (await repository.beside_git("info/lfs/objects/batch", json=asked, media=MEDIA)).json()
    except (errors.PermissionMissing, errors.InstallationSuspended, errors.RepositoryArchived):
        raise
    except (errors.Forbidden, errors.Invalid, errors.AnswerTooLarge, errors.Gone) as error:
        raise LfsRefused(f"GitHub's LFS takes nothing: {error}") from error
    except errors.ServerFault as error:
        if error.status not in _NO_SPACE:
            raise
        raise LfsRefused(f"GitHub's LFS takes nothing: {error}") from error
    if answer.get("transfer", "basic") != "basic" or answer.get("hash_algo", "sha256") != "sha256":
        raise UnreadableAnswer("GitHub's LFS wants another transfer than `basic` with sha256, which is all we know")
    return {str(each.get("oid")): each for each in answer.get("objects") or ()}


async def _put(repository: RepositoryHandle, each: _Object, actions: Mapping[str, Any], content: bytes) -> None:
    """The transfer `basic`: the content to where GitHub says, and a word to it afterwards if it wants one."""
    transport = repository.app.transport
    upload_to = actions["upload"]
    kind = {"Content-Type": "application/octet-stream"}
    await transport.send_elsewhere("PUT", str(upload_to["href"]), {**kind, **_headers(upload_to)}, content)
    if verify := actions.get("verify"):
        said = {"Accept": MEDIA, "Content-Type": MEDIA, **_headers(verify)}
        await transport.send_elsewhere("POST", str(verify["href"]), said, each.named())


def _headers(action: Mapping[str, Any]) -> dict[str, str]:
    return {str(name): str(value) for name, value in (action.get("header") or {}).items()}


def _read(file: LargeFile, pointer: bytes) -> _Object:
    found = _POINTER.fullmatch(pointer)
    if found is None:
        raise TreeMismatch(f"{file.path}: the stored content is no Git LFS pointer: start the turn again")
    return _Object(found[1].decode(), int(found[2]), file)


def _said(refused: Any) -> str:
    return f"{refused.get('message')} ({refused.get('code')})" if isinstance(refused, dict) else str(refused)
