"""What a box may ask of the git gateway. Pure: a request's line in, what it asks for or a refusal in words out.

https://git-scm.com/docs/http-protocol, https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import Enum
from typing import Annotated, Any

import msgspec

ROOT = "/turns/{turn}/git"
_PATH = re.compile(r"/turns/[A-Za-z0-9_-]+/git/([A-Za-z0-9_-]{1,39}/[A-Za-z0-9._-]{1,100})\.git/([A-Za-z0-9/_=-]+)")
_OBJECT = "lfs/"
READ_ONLY = "Greenloop's boxes read repositories and push nothing: the service publishes what a turn changed."

ASKED = frozenset((b"accept", b"accept-encoding", b"content-encoding", b"content-type", b"git-protocol", b"range"))
"""Headers of a box that GitHub gets to see."""
ANSWERED = frozenset(
    ("cache-control", "content-encoding", "content-length", "content-range", "content-type", "expires")
)
"""Headers of GitHub's that a box gets to see."""


class What(Enum):
    """The requests that pass."""

    REFS = "info/refs"
    PACK = "git-upload-pack"
    LFS_BATCH = "info/lfs/objects/batch"
    LFS_OBJECT = "lfs"


class _Object(msgspec.Struct):
    oid: Annotated[str, msgspec.Meta(pattern=r"^[0-9a-f]{64}\Z")]
    size: Annotated[int, msgspec.Meta(ge=0)]


class _Batch(msgspec.Struct):
    operation: str
    objects: list[_Object]


class NotServed(Exception):
    """A refusal: its status, and a sentence that git shows."""

    def __init__(self, status: int, words: str) -> None:
        super().__init__(words)
        self.status = status


@dataclass(frozen=True)
class GitRequest:
    """`repository` is `owner/name` as the box wrote it; `sealed` names the object of Git LFS."""

    what: What
    repository: str
    sealed: str = ""


def read(method: str, raw_path: bytes, query: bytes) -> GitRequest:
    """The request, by its path as it was sent: nothing in it is decoded. Raises NotServed."""
    found = _PATH.fullmatch(raw_path.decode("latin-1"))
    if found is None:
        raise NotServed(404, "The git gateway has no such path.")
    repository, rest = found.groups()
    if "receive-pack" in rest or b"receive-pack" in query:
        raise NotServed(403, READ_ONLY)
    if method == "GET" and rest == What.REFS.value and query == b"service=git-upload-pack":
        return GitRequest(What.REFS, repository)
    if method == "POST" and rest == What.PACK.value and not query:
        return GitRequest(What.PACK, repository)
    if method == "POST" and rest == What.LFS_BATCH.value and not query:
        return GitRequest(What.LFS_BATCH, repository)
    if method == "GET" and rest.startswith(_OBJECT) and "/" not in rest[len(_OBJECT) :] and not query:
        return GitRequest(What.LFS_OBJECT, repository, rest[len(_OBJECT) :])
    if method == "PUT" or rest.startswith("info/lfs/locks"):
        raise NotServed(403, READ_ONLY)
    raise NotServed(404, "The git gateway serves fetches by smart HTTP and reads of Git LFS, nothing else.")


def passing(headers: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """The headers of a box that are passed on."""
    kept = {name.decode(): value.decode("latin-1") for name, value in headers if name in ASKED}
    return {"accept-encoding": "identity", **kept}


def batch(body: bytes) -> dict[str, Any]:
    """The request to GitHub's LFS server for a box's `body`: reads of these objects, nothing else that it says. Raises
    NotServed."""
    try:
        asked = msgspec.json.decode(body, type=_Batch)
    except (ValueError, RecursionError):
        raise NotServed(422, "A batch of Git LFS is an object with a list of objects, by their SHA-256.") from None
    if asked.operation != "download":
        raise NotServed(403, READ_ONLY)
    return {"operation": "download", "transfers": ["basic"], "objects": msgspec.to_builtins(asked.objects)}


def downloads(answer: Any) -> Iterable[tuple[dict[str, Any], str, Mapping[str, str]]]:
    """Each download that GitHub's LFS server names in `answer`: its action, to be changed in place, href and headers.

    Whatever else it names is taken out: a box is told of no other way.
    """
    objects = answer.get("objects") if isinstance(answer, dict) else None
    for each in objects if isinstance(objects, list) else ():
        actions = each.get("actions") if isinstance(each, dict) else None
        if not isinstance(actions, dict):
            continue
        action = actions.get("download")
        each["actions"] = {"download": action} if isinstance(action, dict) else {}
        if isinstance(action, dict):
            yield action, str(action.get("href", "")), action.get("header") or {}
