"""Evidence of failing checks, from GitHub to what an agent is shown: logs on disk for a moment, excerpts in memory."""

import asyncio
import hashlib
import re
from collections import defaultdict
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

from github.checks import logs
from github.checks.artifacts import report_files
from github.checks.model import Check, Kind
from github.checks.red_query import left_by_red_runs
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
    """One failing check as collected. `log` is compressed with zlib; `size` are its bytes before that. `job` is what it
    was run as, where it is one of GitHub Actions."""

    check: Check
    distilled: Distilled
    log_name: str = ""
    log: bytes = b""
    size: int = 0
    job: logs.Job | None = None


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
    sha: str | None = None,
    before: Before | None = None,
) -> list[CollectedCheck]:
    """What each red check left behind. A log that cannot be had is said in its place; nothing is raised for it.

    `sha` is the commit that most of them are of; `before` finds what is known of a job from when it last passed. Of a
    job that failed in the same steps for a push and for its pull request, one log speaks for both.
    """
    turns = asyncio.Semaphore(AT_ONCE)
    known = await left_by_red_runs(repo, sha) if sha else {}

    async def beside_log(check: Check) -> logs.FailedCheckLogs:
        async with turns:
            return await logs.evidence(repo, check, known.get(check.id))

    left = await asyncio.gather(*map(beside_log, red))
    first = _first_alike(left)
    runs = {red[at].run_id for at in first if red[at].kind is Kind.JOB and red[at].run_id}
    reports = {run: await distiller.reports(await report_files(repo, run)) for run in sorted(runs)}

    async def one(at: int) -> CollectedCheck:
        async with turns:
            return await _found(
                distiller, left[at], budget, changed_files, redact, before, reports.get(red[at].run_id, ())
            )

    spoken = sorted({*first})
    found = dict(zip(spoken, await asyncio.gather(*map(one, spoken)), strict=True))
    unspoken = [at for at, speaker in enumerate(first) if at not in found and not found[speaker].log]
    found |= dict(zip(unspoken, await asyncio.gather(*map(one, unspoken)), strict=True))
    return [found[at] if at in found else replace(found[first[at]], check=check) for at, check in enumerate(red)]


def _first_alike(left: Sequence[logs.FailedCheckLogs]) -> list[int]:
    """For each the place of the first job of the same name and workflow that failed in the same steps of another run on
    the commit. Not where a run has several of the name: those of a matrix are different jobs."""
    places: dict[Any, dict[int, list[int]]] = defaultdict(lambda: defaultdict(list))
    for at, each in enumerate(left):
        if each.job is not None and each.failed_steps and each.check.run_id:
            alike = (each.check.lineage, each.check.in_queue, each.check.conclusion, each.failed_steps)
            places[alike][each.check.run_id].append(at)
    first = list(range(len(left)))
    for by_run in places.values():
        if all(len(each) == 1 for each in by_run.values()):
            same = sorted(at for each in by_run.values() for at in each)
            for at in same:
                first[at] = same[0]
    return first


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
    left: logs.FailedCheckLogs,
    budget: int,
    changed_files: Sequence[str],
    redact: Callable[[str], str],
    before: Before | None,
    reports: Sequence[Report],
) -> CollectedCheck:
    check = left.check
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
    return CollectedCheck(check, read.distilled, log_name(check), read.packed, read.size, left.job)


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
