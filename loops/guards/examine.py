"""Puts the guards together: what of a turn may not be published, and what has to be said about it."""

import asyncio
from collections.abc import Iterable

from k8s.runner.protocol import Change
from loops.guards import keyfiles, patch, places, secrets
from loops.guards.model import BaseOf, ContentOf, Finding, Findings, Proposal

_MOST_BYTES = 5_000_000
_CANNOT_HOLD = ("bad_path", "bad_mode", "submodule", "too_many_files", "too_many_bytes", "file_too_large")


async def examine(proposal: Proposal, content_of: ContentOf, base_of: BaseOf | None = None) -> Findings:
    """Look at everything that the turn would publish.

    The diff comes from the box and is redacted and perhaps cut, so it only says which lines are new; what is in them is
    read from the blobs, which are what is published. `base_of` is asked about files with something in them that may
    have been there before; without it the diff is believed. Raises what the readers raise.
    """
    changes = proposal.own()
    refused = [
        *places.bad_paths(changes),
        *places.odd_entries(changes),
        *places.protected(changes, proposal),
        *places.too_much(changes, proposal),
    ]
    if any(finding.code in _CANNOT_HOLD for finding in refused):
        return Findings(refusals=_once(refused))
    patches = {each.path: each for each in await asyncio.to_thread(patch.read, proposal.diff)}
    for change in changes:
        refused += await _of_content(proposal, change, patches.get(change.path), content_of, base_of)
    return Findings(refusals=_once(refused))


async def _of_content(
    proposal: Proposal, change: Change, seen: patch.Patch | None, content_of: ContentOf, base_of: BaseOf | None
) -> list[Finding]:
    """What a changed file's name and content say."""
    if change.sha is None:
        # a file of the repository's own that our env file replaced, and that went with it
        gone = keyfiles.by_name(change.path, proposal.env_files)
        return [gone] if gone and change.path in proposal.env_files else []
    content = await content_of(change.sha)
    if change.mode == places.SYMLINK:
        out = places.link_out(change.path, content)
        return [out] if out else []
    if named := keyfiles.by_name(change.path, proposal.env_files):
        return [named]
    if inside := keyfiles.by_content(change.path, content):
        return [inside]
    hits = await asyncio.to_thread(_hits, proposal, change.path, content)
    if not hits:
        return []
    added = _added(seen)
    if base_of is not None:
        before = await base_of(change.old_path or change.path)
        hits = secrets.only_new(hits, before.decode("utf-8", "replace") if before is not None else None)
    elif added is not None:
        hits = [hit for hit in hits if hit.line in added]
    return [secrets.finding(change.path, hit) for hit in hits]


def _hits(proposal: Proposal, path: str, content: bytes) -> list[secrets.Hit]:
    hits = secrets.known(proposal.redactor, content)
    if b"\0" not in content[:8000]:
        lines = {hit.line for hit in hits}
        found = secrets.scan(path, content[:_MOST_BYTES].decode("utf-8", "replace"))
        lenient = secrets.for_tests(path)
        hits += [hit for hit in found if hit.line not in lines and (hit.sure or not lenient)]
    return hits


def _added(seen: patch.Patch | None) -> set[int] | None:
    """The numbers of the lines that are new; None when the diff does not show the file, and all may be."""
    if seen is None:
        return None
    numbers: set[int] = set()
    for hunk in seen.hunks:
        if hunk.exact:
            numbers |= {line.number for line in hunk.lines if line.sign == "+"}
        else:
            numbers |= set(range(hunk.start, hunk.start + hunk.count))
    return numbers


def _once(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    """Each thing once, in a steady order."""
    return tuple(sorted(dict.fromkeys(findings), key=lambda each: (each.path, each.line or 0, each.code)))
