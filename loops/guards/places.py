"""Where a change may stand at all: path tricks, links that lead out, submodules, protected paths, caps. Pure."""

import re
from collections.abc import Iterator, Mapping, Sequence

from github.repositories.config import PATH as OWN_CONFIG
from k8s.runner.protocol import Change
from loops.guards.globs import folded, matches
from loops.guards.model import Finding, Proposal, shown
from loops.guards.obeyed_files import protecting

GITLINK = "160000"
SYMLINK = "120000"
MODES = ("100644", "100755", SYMLINK)
WORKFLOWS = ".github/workflows/**"

# Letters that HFS+ leaves out when it compares names (git's own list, utf8.c).
_IGNORED = re.compile("[\u200c-\u200f\u202a-\u202e\u206a-\u206f\ufeff]")
_GIT_NAMES = re.compile(r"(?:\.git|git~\d+)(?::.*|[. ]*)\Z", re.DOTALL)
_STREAM = re.compile(r":\$[a-z]", re.IGNORECASE)
_DRIVE = re.compile(r"[A-Za-z]:")
_MOST_LINKS = 40
"""Links on one way that are followed, as many as a kernel follows."""
_LONGEST_WAY = 4096
"""Bytes of a link's target, and characters of the way it takes, which is as far as kernels follow."""


def bad_paths(changes: Sequence[Change]) -> Iterator[Finding]:
    """Names that another system reads as something else, or that no tree may hold."""
    for change in changes:
        reason = path_trick(change.path, gone=change.sha is None)
        if reason:
            text = f"The path {shown(change.path)} cannot be published: {reason}. Give the file a plain name."
            yield Finding("bad_path", change.path, text)


def path_trick(path: str, *, gone: bool = False) -> str | None:
    """What is wrong with a path in a commit, None if nothing is. A file that is `gone` may have an odd name."""
    if not path or path.startswith("/") or path.endswith("/"):
        return "it is no relative path of a file"
    parts = path.split("/")
    if any(part in ("", ".", "..") for part in parts):
        return "it has a part that is empty, `.` or `..`"
    for part in parts:
        # backslashes and streams: how Windows would take the name apart
        for name in re.split(r"\\", _IGNORED.sub("", part)):
            if _GIT_NAMES.fullmatch(name.casefold()):
                return "some file systems take it for git's own directory"
    if gone:
        return None
    if "\\" in path:
        return "it has a backslash, which separates folders on Windows"
    if any(ord(character) < 32 or ord(character) == 127 for character in path):
        return "it has a control character"
    if any("\ud800" <= character <= "\udfff" for character in path):
        return "it is not UTF-8"
    if _STREAM.search(path):
        return "Windows takes a part of it for a stream of another file"
    if any(len(part.encode()) > 255 for part in parts) or len(path.encode()) > 4096:
        return "it is longer than file systems take"
    return None


def odd_entries(changes: Sequence[Change]) -> Iterator[Finding]:
    """Submodules and modes that are no file's."""
    for change in changes:
        if change.mode == GITLINK:
            text = (
                f"{shown(change.path)} is a submodule, and Greenloop adds, moves or removes none. A person can change "
                "it in a commit of their own; a folder that holds a `.git` has to lose it to be published as files."
            )
            yield Finding("submodule", change.path, text)
        elif change.sha is not None and change.mode not in MODES:
            text = f"{shown(change.path)} has the mode {change.mode[:12]!r}; files and symlinks only can be published."
            yield Finding("bad_mode", change.path, text)
        if folded(change.path) == ".gitmodules" or folded(change.old_path or "") == ".gitmodules":
            text = "`.gitmodules` says where submodules come from; a person has to change it in a commit of their own."
            yield Finding("submodule", change.path, text)


def link_out(path: str, target: bytes, links: Mapping[str, bytes] | None = None) -> Finding | None:
    """What is said of the symlink `path` when its target is not a place inside the repository.

    `links` are the other symlinks, path -> target: a way through one of them goes on where that leads.
    """
    if target and _stays_inside(path, target, links or {}):
        return None
    text = (
        f"The symlink {shown(path)} points to {shown(target.decode('utf-8', 'surrogateescape'))}, outside the "
        "repository's files. Link to a relative path inside it, or use a plain file."
    )
    return Finding("symlink", path, text)


def _stays_inside(path: str, target: bytes, links: Mapping[str, bytes]) -> bool:
    """Follow the link as a kernel does, folder by folder."""
    folder = path.rpartition("/")[0]
    pending = _parts(target)
    followed = 0
    while pending:
        part = pending.pop()
        if part in ("", "."):
            continue
        if part.startswith("~") or _DRIVE.match(part):
            return False
        if part == "..":
            if not folder:
                return False
            folder = folder.rpartition("/")[0]
            continue
        if not folder and _GIT_NAMES.fullmatch(_IGNORED.sub("", part).casefold()):
            return False
        here = f"{folder}/{part}" if folder else part
        if len(here) > _LONGEST_WAY:
            return False
        if here not in links:
            folder = here
            continue
        followed += 1
        if here == path or followed > _MOST_LINKS:
            return False
        if (more := _parts(links[here])) is None:
            return False
        pending += more
    return pending is not None


def _parts(target: bytes) -> list[str] | None:
    """The names that a link's target is made of, the first one last; None where no relative way is."""
    way = target.decode("utf-8", "surrogateescape").replace("\\", "/")
    if len(target) > _LONGEST_WAY or "\0" in way or way.startswith("/"):
        return None
    return way.split("/")[::-1]


def ways_back(path: str, target: bytes) -> Sequence[str]:
    """The paths in the repository that the link's target goes into and out of again (`x` in `x/../y`): where one is a
    link itself, the target leads elsewhere than it seems."""
    if len(target) > _LONGEST_WAY:
        return ()  # it is refused as it is
    at = path.split("/")[:-1]
    own = len(at)
    found = []
    for part in target.decode("utf-8", "surrogateescape").replace("\\", "/").split("/"):
        if part == "..":
            if len(at) > own:
                found.append("/".join(at))
            at = at[:-1]
            own = min(own, len(at))
        elif part not in ("", "."):
            at.append(part)
    return found


def protected(changes: Sequence[Change], proposal: Proposal) -> Iterator[Finding]:
    """Changes of paths that an agent may not touch: what it writes there, removes there, moves out or in."""
    for change in changes:
        for path in dict.fromkeys(filter(None, (change.path, change.old_path))):
            if matches(path, OWN_CONFIG):
                text = (
                    f"{shown(path)} holds Greenloop's own limits, so Greenloop never changes it. A person has to, in a "
                    "commit of their own."
                )
                yield Finding("own_config", path, text)
            elif glob := protecting(path, proposal.config):
                text = (
                    f"{shown(path)} is protected by `{glob}`. A person can make that change, or let agents do it with "
                    f"`!{glob}` in `protected_paths` of `{OWN_CONFIG}` on the default branch."
                )
                yield Finding("protected_path", path, text)
            elif not proposal.workflows_allowed and matches(path, WORKFLOWS):
                text = (
                    f"{shown(path)} is a workflow, and the App lacks the permission `workflows: write`. Grant it in "
                    "the App's settings and accept it for this installation, or make that change by hand."
                )
                yield Finding("workflows_permission", path, text)


def too_much(changes: Sequence[Change], proposal: Proposal) -> Iterator[Finding]:
    """More files or bytes than one turn may publish."""
    most = proposal.config.limits.files
    if len(changes) > most:
        text = (
            f"{len(changes)} files were changed, among them {shown(changes[0].path)}; {most} may be published. Ask for "
            f"a smaller step, or raise `limits.files` in `{OWN_CONFIG}` on the default branch."
        )
        yield Finding("too_many_files", changes[0].path, text)
    for change in changes:
        if change.size > proposal.file_bytes:
            text = (
                f"{shown(change.path)} has {change.size:,} bytes; one file may have {proposal.file_bytes:,}. Leave it "
                "out, or list it in `.gitignore` if it was made by a build."
            )
            yield Finding("file_too_large", change.path, text)
    total = sum(change.size for change in changes)
    if total > proposal.changed_bytes:
        largest = max(changes, key=lambda change: change.size)
        text = (
            f"The changed files have {total:,} bytes together, {shown(largest.path)} the most; "
            f"{proposal.changed_bytes:,} may be published. Leave large files out, or ask for a smaller step."
        )
        yield Finding("too_many_bytes", largest.path, text)
