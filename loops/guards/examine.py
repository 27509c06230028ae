"""Puts the guards together: what of a turn may not be published, and what has to be said about it."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from k8s.runner.protocol import Change
from loops.guards import conflicts, keyfiles, new_lines, patch, places, secrets, testfiles, testguard, weakening
from loops.guards.model import Apart, BaseOf, ContentOf, Finding, Findings, Proposal, shown
from loops.guards.obeyed_files import freed
from loops.guards.weakening.whole import Whole, undone
from loops.offload import Withheld
from loops.secrets.redact import Redactor

_BLOCKED = "This repository's `test_guard` is `block`: a person has to make that change."
_CUT = "the diff"
_CUT_WITHIN = 200
_READ = 200_000
"""Bytes of a file that is compared as a whole."""
_READ_ALL = 600_000
"""Bytes of all of them together: a pass over so much takes some seconds."""
_MOST_WAYS = 40
"""Folders on the way of links that are looked up: no honest link goes in and out of more."""
_SOMEWHERE = b"/"
"""What stands for the target of a link that is not looked up: it is outside, for all that is known."""
_CANNOT_HOLD = ("bad_path", "bad_mode", "submodule", "too_many_files", "too_many_bytes", "file_too_large")


async def examine(
    proposal: Proposal, content_of: ContentOf, base_of: BaseOf | None = None, apart: Apart = asyncio.to_thread
) -> Findings:
    """Look at everything that the turn would publish.

    The diff comes from the box and is redacted and perhaps cut, so it only says which lines are new; what is in them is
    read from the blobs, which are what is published. `base_of` is asked about files with something in them that may
    have been there before; without it the diff is believed. `apart` runs what is heavy
    elsewhere; what it has to withhold is refused. Raises what the readers raise.
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
    if named := [finding for change in changes if (finding := secrets.in_name(change.path, proposal.redactor))]:
        return Findings(refusals=_once(named))
    read = await apart(patch.read, proposal.diff)
    patches = {each.path: each for each in read}
    links = {
        change.path: await content_of(change.sha)
        for change in changes
        if change.mode == places.SYMLINK and change.sha is not None
    }
    refused += await _of_links(proposal, links, base_of)
    for change in changes:
        refused += await _of_content(proposal, change, patches.get(change.path), content_of, base_of, apart)
    about_tests = await _about_tests(proposal, changes, patches, content_of, base_of, apart)
    if proposal.ran and proposal.config.test_guard != "off":
        taken_out = "\n".join(line.text for each in read for line in each.removed())
        fewer = await apart(weakening.fewer, *proposal.ran, taken_out)
        about_tests += [replace(each, text=proposal.redactor.text(each.text)) for each in fewer]
    blocks = (*testguard.ALWAYS, *testguard.IN_REPAIRS) if proposal.repair else testguard.ALWAYS
    if proposal.config.test_guard == "block":
        refused += [replace(each, text=f"{each.text} {_BLOCKED}") for each in about_tests if each.code in blocks]
        about_tests = [each for each in about_tests if each.code not in blocks]
    return Findings(_once(refused), _once(about_tests))


async def _about_tests(
    proposal: Proposal,
    changes: Sequence[Change],
    patches: Mapping[str, patch.Patch],
    content_of: ContentOf,
    base_of: BaseOf | None,
    apart: Apart,
) -> list[Finding]:
    """What the test guard says. Files that the diff does not show are compared by their contents."""
    if proposal.config.test_guard == "off":
        return []
    own = {change.path for change in changes}
    seen = [each for path, each in patches.items() if path in own]
    said: list[Finding] = []
    wholes: list[Whole] = []
    for change in changes:
        concerned = testfiles.is_test(change.path) or testfiles.is_step(change.path)
        if change.path in patches or change.binary or change.mode == places.SYMLINK or not concerned:
            if (one := await _whole(change, patches.get(change.path), content_of)) is not None:
                wholes.append(one)
            continue
        if base_of is not None:
            before = await base_of(change.old_path or change.path)
            after = await content_of(change.sha) if change.sha else None
            old_path = (change.old_path or change.path) if before is not None else None
            seen.append(patch.whole(old_path, change.path if change.sha else None, _text(before), _text(after)))
            wholes.append(Whole(change.path, _text(before), _text(after), change.old_path))
        elif change.old_path and (one := await _whole(change, None, content_of)) is not None:
            wholes.append(one)
        elif change.sha and change.size and _CUT in proposal.diff[-_CUT_WITHIN:]:
            said.append(_not_compared(change.path))
    read = _within(wholes)
    said += [_not_compared(each.path) for each in wholes if each not in read and testfiles.is_test(each.path)]
    return [*said, *await apart(testguard.look, changes, seen, read)]


def _within(wholes: Sequence[Whole]) -> list[Whole]:
    """Those that are compared as a whole, tests first."""
    read, size = [], 0
    for each in sorted(wholes, key=lambda one: not testfiles.is_test(one.path)):
        size += len(each.old or "") + len(each.new or "")
        if size <= 2 * _READ_ALL:
            read.append(each)
    return read


def _not_compared(path: str) -> Finding:
    return Finding("not_compared", path, f"{shown(path)} was not compared: the diff is too long.")


async def _whole(change: Change, seen: patch.Patch | None, content_of: ContentOf) -> Whole | None:
    """The file before and after, if the guard reads it and the diff tells what it was."""
    told = seen is not None or change.sha is not None
    if (
        change.binary
        or change.mode == places.SYMLINK
        or change.size > _READ
        or not told
        or not weakening.concerns(change.path)
    ):
        return None
    after = _text(await content_of(change.sha)) if change.sha else None
    if seen is None:
        return Whole(change.path, after, after, change.old_path) if change.old_path else None
    before = undone(seen, after) if seen.old is not None else None
    return Whole(change.path, before, after, change.old_path) if before is not None or seen.old is None else None


async def _of_links(proposal: Proposal, links: Mapping[str, bytes], base_of: BaseOf | None) -> list[Finding]:
    """What the symlinks of the turn lead to, one through another, and what their targets say."""
    there = dict(links)
    if base_of is not None:
        ways = {way for path, target in links.items() for way in places.ways_back(path, target)}
        asked = sorted(ways - {change.path for change in proposal.changes})
        for way in asked[:_MOST_WAYS]:
            # a folder has no content: what has some may be a link that was there before
            if (content := await base_of(way)) is not None:
                there[way] = content
        there |= dict.fromkeys(asked[_MOST_WAYS:], _SOMEWHERE)
    found: list[Finding] = []
    for path, target in links.items():
        if out := places.link_out(path, target, there):
            found.append(replace(out, text=proposal.redactor.text(out.text)))
        hits = secrets.hits(path, target, proposal.redactor)
        found += [secrets.finding(path, hit) for hit in hits if hit.sure][:1]
    return found


def _text(content: bytes | None) -> str | None:
    return None if content is None else content.decode("utf-8", "replace")


async def _of_content(
    proposal: Proposal,
    change: Change,
    seen: patch.Patch | None,
    content_of: ContentOf,
    base_of: BaseOf | None,
    apart: Apart,
) -> list[Finding]:
    """What a changed file's name and content say."""
    if change.sha is None:
        # a file of the repository's own that our env file replaced, and that went with it
        gone = keyfiles.by_name(change.path, proposal.env_files)
        return [gone] if gone and change.path in proposal.env_files else []
    content = await content_of(change.sha)
    if change.mode == places.SYMLINK:
        return []
    if named := keyfiles.by_name(change.path, proposal.env_files):
        return [named]
    if proposal.merges and (both := conflicts.left(change.path, content)):
        return [both]
    if inside := keyfiles.by_content(change.path, content):
        return [inside]
    if new_lines.concerns(change.path) and not freed(change.path, proposal.config):
        before = await base_of(change.old_path or change.path) if base_of is not None else None
        if suspect := list(new_lines.suspect(change.path, before, content)):
            return suspect[: secrets.MOST]
    try:
        found = await apart(_hits, change.path, content, proposal.redactor)
    except Withheld as error:
        return [_unseen(change.path, error)]
    if not found:
        return []
    added = _added(seen)
    if base_of is not None:
        before = await base_of(change.old_path or change.path)
        if before is not None:
            try:
                found = secrets.only_new(found, await apart(secrets.hits, change.path, before, proposal.redactor))
            except Withheld as error:
                return [_unseen(change.path, error)]
    elif added is not None:
        found = [hit for hit in found if hit.line in added]
    return [secrets.finding(change.path, hit) for hit in found[: secrets.MOST]]


def _hits(path: str, content: bytes, redactor: Redactor) -> list[secrets.Hit]:
    lenient = secrets.for_tests(path)
    return [hit for hit in secrets.hits(path, content, redactor) if hit.sure or not lenient]


def _unseen(path: str, why: Withheld) -> Finding:
    text = f"{shown(path)} was not searched for secrets: {why}. Make the file smaller, or let a person commit it."
    return Finding("not_searched", path, text)


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
