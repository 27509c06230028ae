"""Evidence of failing checks, from GitHub to what an agent is shown: logs on disk for a moment, excerpts in memory."""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from github.checks import logs
from github.checks.artifacts import report_files
from github.checks.model import Check, Kind
from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from loops.checks.distiller import AboutLog, Distiller
from loops.checks.last_passing import LastPassing
from loops.checks.spool import spooled
from loops.evidence.check import distill_check
from loops.evidence.model import Annotation, Distilled, Report
from loops.evidence.telling.merge import merge
from loops.offload import Withheld

CHECKS = 12  # are collected at once: more red checks than this seldom say anything new to an agent
MOST_CHECKS = 5 * CHECKS
AT_ONCE = 3
ADDRESS = 300  # characters

Before = Callable[[logs.FailedCheckLogs], Awaitable[LastPassing]]


@dataclass(frozen=True)
class CollectedCheck:
    """One failing check as collected. `log` is compressed with zlib; `size` are its bytes before that."""

    check: Check
    distilled: Distilled
    log_name: str = ""
    log: bytes = b""
    size: int = 0


@dataclass(frozen=True)
class Failure:
    """One failure and the checks it was seen in. `first` is the one whose log and excerpt speak for all."""

    names: tuple[str, ...]
    distilled: Distilled
    first: CollectedCheck
    checks: tuple[Check, ...] = ()


async def collect(
    distiller: Distiller,
    repo: RepositoryHandle,
    red: Sequence[Check],
    *,
    budget: int,
    changed_files: Sequence[str],
    redact: Callable[[str], str],
    before: Before | None = None,
) -> list[CollectedCheck]:
    """What each red check left behind. A log that cannot be had is said in its place; nothing is raised for it.

    `before` finds what is known of a job from when it last passed.
    """
    turns = asyncio.Semaphore(AT_ONCE)
    runs = {check.run_id for check in red if check.kind is Kind.JOB and check.run_id}
    reports = {run: await distiller.reports(await report_files(repo, run)) for run in runs}

    async def one(check: Check) -> CollectedCheck:
        async with turns:
            return await _found(
                distiller, repo, check, budget, changed_files, redact, before, reports.get(check.run_id, ())
            )

    return list(await asyncio.gather(*map(one, red)))


def failures(found: Sequence[CollectedCheck]) -> list[Failure]:
    """The failures in what was found: jobs that failed alike are one."""
    merged = merge([(each.check.shown_name, each.distilled) for each in found])
    return [
        Failure(
            each.jobs,
            each.distilled,
            next(one for one in found if one.distilled is each.distilled),
            tuple(one.check for one in found if one.distilled.fingerprint == each.distilled.fingerprint),
        )
        for each in merged
    ]


def fingerprint(found: Sequence[Failure]) -> str:
    """A name for the whole: the same failures, in whatever order, give the same."""
    prints = sorted({each.distilled.fingerprint for each in found})
    return hashlib.sha256("\n".join(prints).encode()).hexdigest()[:32]


async def _found(
    distiller: Distiller,
    repo: RepositoryHandle,
    check: Check,
    budget: int,
    changed_files: Sequence[str],
    redact: Callable[[str], str],
    before: Before | None,
    reports: Sequence[Report],
) -> CollectedCheck:
    left = await logs.evidence(repo, check)
    notes = [
        Annotation(note.path, note.message, note.start_line or None, _level(note.level), note.title)
        for note in left.annotations
    ]
    if left.log is None:
        return CollectedCheck(check, _without_log(left, notes, budget, changed_files, redact))
    passing = await before(left) if before is not None else LastPassing()
    try:
        async with spooled(left.log) as file:
            about = AboutLog(
                budget, redact, left.failed_steps, notes, changed_files, passing.twin, passing.since, reports
            )
            read = await distiller.log(check.id, Path(file.name), about)
    except GitHubError as error:
        missing = f"Its log could not be had: {error}"
        return CollectedCheck(check, _without_log(left, notes, budget, changed_files, redact, missing))
    except Withheld as error:
        missing = f"Its log is put aside, since our processes fail over it: {error}. Read it on GitHub."
        return CollectedCheck(check, _without_log(left, notes, budget, changed_files, redact, missing))
    return CollectedCheck(check, read.distilled, log_name(check), read.packed, read.size)


def _without_log(
    left: logs.FailedCheckLogs,
    notes: Sequence[Annotation],
    budget: int,
    changed_files: Sequence[str],
    redact: Callable[[str], str],
    missing: str = "",
) -> Distilled:
    title = left.details or f"{left.check.name} ended as {left.check.conclusion}"
    unread = redact(_unread(left)) if left.log is None else ""
    found = distill_check(
        title,
        missing or None,
        annotations=notes,
        budget=max(budget - len(unread.encode()) - 1, 0),
        changed_files=changed_files,
        redact=redact,
    )
    # behind all else, and no part of the failure's name: the address is another one each time
    return replace(found, excerpt=f"{found.excerpt.rstrip()}\n{unread}") if unread else found


def _unread(left: logs.FailedCheckLogs) -> str:
    """That nobody here has read the log, and where it is: other CI services show theirs to those who sign in there."""
    url = " ".join(left.check.url.split())[:ADDRESS]
    return f"Its log was not read: {left.log_missing}.{f' It is at {url}' if url else ''}\n"


def log_name(check: Check) -> str:
    """The name of a check's log in the box: readable, and safe as a file name and in a URL."""
    plain = re.sub(r"[^A-Za-z0-9._-]+", "-", check.name).strip("-.")[:60] or "check"
    return f"{plain}-{check.id}.log"


def _level(level: str) -> Literal["notice", "warning", "failure"]:
    return "notice" if level == "notice" else "warning" if level == "warning" else "failure"
