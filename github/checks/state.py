"""Everything GitHub knows of one commit's checks: check runs, suites, workflow runs, statuses, and what is required.

Events are only hints; this is the truth. Reading it costs one query, a conditional request where a suite of Actions is
another than it was and nothing of it is under way, and one more for each workflow run that ran again; four conditional
requests where GraphQL is not to be had. `github.checks.assemble` says what counts of it, `github.checks.verdict` what
it means.
"""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from github.checks.answers import read_run, suite_id_of
from github.checks.assemble import assemble
from github.checks.head_query import HeadAnswer, TooMany, ask_head
from github.checks.model import ACTIONS, PASSING, Required, Run, Snapshot
from github.client.errors import Forbidden, NotFound
from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle, quoted
from github.repositories.queries import UNCHANGING, Pull, branch, pull

RUNS = "runs"  # what is remembered of a commit (`github.client.told`): its runs, and the suites by which they stand
MOST = 10_000  # of one commit's check runs, suites, runs and statuses; one that has more is never green


@dataclass(frozen=True, slots=True)
class Reported:
    """What GitHub says of a commit, and of the pull request that was asked about with it. `whole` is False where its
    workflow runs were left out."""

    sha: str
    answer: HeadAnswer
    runs: list[Run]
    attempts: Mapping[int, frozenset[int]]
    whole: bool = True

    @property
    def pull(self) -> Pull | None:
        return self.answer.pull


async def snapshot(
    repository: RepositoryHandle,
    sha: str,
    *,
    own_app_id: int,
    base: str | None = None,
    number: int | None = None,
    max_age: float = 0.0,
    rules_age: float = 0.0,
) -> Snapshot:
    """The state of the commit `sha`. `base` is the branch whose rules say what is required (a pull request's base),
    `number` the pull request that may conflict with it.

    What GitHub said within the last `max_age` seconds will do, of the rules within `rules_age`.

    Raises NotFound or Invalid where there is no such commit.
    """
    found, required = await asyncio.gather(
        reported(repository, sha, number=number, max_age=max_age),
        required_checks(repository, base, max_age=rules_age) if base else _nothing(),
    )
    return assembled(found, required, own_app_id=own_app_id)


async def reported(
    repository: RepositoryHandle,
    sha: str,
    *,
    number: int | None = None,
    max_age: float = 0.0,
    without_runs_at_work: bool = False,
) -> Reported:
    """What GitHub says of the commit, without what is required. Raises NotFound or Invalid.

    `without_runs_at_work`: the workflow runs are not asked for while a job of theirs is under way and none has failed.
    What they say besides (an attempt, a run's own conclusion, what it forgives) matters once the jobs have ended. Not
    for a commit of the default branch: there runs may have begun that are not about it.
    """
    told = repository.app.told
    kept = told.get(repository.id, RUNS, sha, UNCHANGING)
    if kept is None and not without_runs_at_work:
        answer, runs = await asyncio.gather(
            head_answer(repository, sha, number, max_age=max_age), _workflow_runs(repository, sha, max_age)
        )
    else:
        answer = await head_answer(repository, sha, number, max_age=max_age)
        if without_runs_at_work and _at_work(answer):
            return Reported(sha, answer, [], {}, whole=False)
        former, runs = kept[0] if kept else (None, [])
        if former != (_actions_suites(answer), _ids(answer)):
            runs = await _workflow_runs(repository, sha, max_age)
    told.forget(repository.id, RUNS, sha)
    if _agree(suites := _actions_suites(answer), runs):
        told.put(repository.id, RUNS, sha, ((suites, _ids(answer)), runs))
    return Reported(sha, answer, runs, await _attempts(repository, runs, max_age))


def assembled(found: Reported, required: tuple[Required, ...], *, own_app_id: int) -> Snapshot:
    """What counts of it. Pure."""
    answer, sha = found.answer, found.sha
    counted = assemble(
        sha,
        answer.check_runs,
        answer.suites,
        answer.statuses,
        found.runs,
        required,
        own_app_id=own_app_id,
        conflicted=_conflicted(answer.pull, sha),
        attempts=found.attempts,
    )
    lengths = len(found.runs), len(answer.check_runs), len(answer.suites), len(answer.statuses)
    truncated = max(lengths) >= MOST
    return replace(counted, undecided=_undecided(answer.pull, sha), truncated=truncated)


async def head_answer(
    repository: RepositoryHandle, sha: str, number: int | None = None, *, max_age: float = 0.0
) -> HeadAnswer:
    """What GitHub says of the commit's checks, by a query where that is to be had. Raises NotFound or Invalid."""
    try:
        return await ask_head(repository, sha, number, max_age=max_age)
    except (QueryUnavailable, TooMany):
        return await _by_rest(repository, sha, number, max_age)


async def _by_rest(repository: RepositoryHandle, sha: str, number: int | None, max_age: float) -> HeadAnswer:
    async def listed(what: str, key: str, **params: str | int) -> list[dict[str, Any]]:
        found = repository.pages(f"commits/{sha}/{what}", key, params=params, limit=MOST, max_age=max_age)
        return [item async for item in found]

    async def asked_pull() -> Pull | None:
        return await pull(repository, number, max_age=max_age) if number is not None else None

    found, suites, statuses, shown = await asyncio.gather(
        # `latest` would keep one of each name, and the jobs of a matrix may share theirs
        listed("check-runs", "check_runs", filter="all"),
        listed("check-suites", "check_suites"),
        listed("status", "statuses"),
        asked_pull(),
    )
    return HeadAnswer(found, suites, statuses, shown)


async def required_checks(repository: RepositoryHandle, base: str, *, max_age: float = 0.0) -> tuple[Required, ...]:
    """What classic protection and rulesets require on the branch `base`. Neither lists the other's."""
    found: dict[Required, None] = {}
    known, rules = await asyncio.gather(
        branch(repository, base, max_age=max_age), branch_rules(repository, base, max_age=max_age)
    )
    for name, app_id in known.required if known else ():
        found[Required(name, app_id)] = None
    for rule in rules:
        parameters = rule.get("parameters") or {}
        if rule.get("type") == "required_status_checks":
            for each in parameters.get("required_status_checks") or ():
                found[Required(str(each.get("context") or ""), int(each.get("integration_id") or 0))] = None
        if rule.get("type") == "workflows":
            for each in parameters.get("workflows") or ():
                found[Required(str(each.get("path") or ""), workflow=True)] = None
    return tuple(found)


async def branch_rules(repository: RepositoryHandle, name: str, *, max_age: float = 0.0) -> list[dict[str, Any]]:
    """The active ruleset rules for a branch, also for one that does not exist yet."""
    try:
        return [rule async for rule in repository.pages(f"rules/branches/{quoted(name)}", max_age=max_age)]
    except (NotFound, Forbidden):  # not on every GitHub Enterprise Server
        return []


def _at_work(answer: HeadAnswer) -> bool:
    """Whether a job of Actions is under way, in a suite that is as well, and those that have ended did so well."""
    suites = {int(each["id"]) for each in _actions_suites(answer) if each.get("status") != "completed"}
    jobs = [each for each in answer.check_runs if (each.get("app") or {}).get("slug") == ACTIONS]
    under_way = [each for each in jobs if each.get("status") != "completed"]
    ended_well = all(each.get("conclusion") in PASSING for each in jobs if each.get("status") == "completed")
    return ended_well and any(suite_id_of(each) in suites for each in under_way)


def _actions_suites(answer: HeadAnswer) -> list[dict[str, Any]]:
    """The suites of Actions: each is of one run, and changes whenever that does."""
    return [each for each in answer.suites if (each.get("app") or {}).get("slug") == ACTIONS]


def _ids(answer: HeadAnswer) -> list[int]:
    """The check runs: a run that runs again has others, may it end as before within a second."""
    return sorted(int(each["id"]) for each in answer.check_runs)


def _agree(suites: Sequence[Mapping[str, Any]], runs: Sequence[Run]) -> bool:
    """Whether the runs are all that the suites are of, and say the same: one of the two may be behind the other."""
    told = {int(each["id"]): (each.get("status"), each.get("conclusion") or "") for each in suites}
    return told == {run.suite_id: (run.status, run.conclusion) for run in runs}


async def _nothing() -> tuple[Required, ...]:
    return ()


async def _workflow_runs(repository: RepositoryHandle, sha: str, max_age: float) -> list[Run]:
    params: dict[str, str | int] = {"head_sha": sha, "exclude_pull_requests": "true"}
    try:
        found = repository.pages("actions/runs", "workflow_runs", params=params, limit=MOST, max_age=max_age)
        return [read_run(each) async for each in found]
    except (NotFound, Forbidden):  # Actions is switched off, or the App has no `actions: read`
        return []


async def _attempts(repository: RepositoryHandle, runs: Iterable[Run], max_age: float) -> dict[int, frozenset[int]]:
    """The check runs of the newest attempt of each run that ran again: GitHub lists those of all attempts together."""
    found = {}
    for run in runs:
        if run.attempt > 1:
            jobs = repository.pages(f"actions/runs/{run.id}/jobs", "jobs", limit=MOST, max_age=max_age)
            found[run.id] = frozenset([_check_run_of(job) async for job in jobs])
    return found


def _check_run_of(job: dict[str, Any]) -> int:
    """A job's check run: their ids are the same by custom only."""
    tail = str(job.get("check_run_url") or "").rpartition("/")[2]
    return int(tail) if tail.isdigit() else int(job["id"])


def _conflicted(pull: Pull | None, sha: str) -> bool:
    return pull is not None and pull.head_sha == sha and (pull.mergeable is False or pull.mergeable_state == "dirty")


def _undecided(pull: Pull | None, sha: str) -> bool:
    return pull is not None and pull.state == "open" and pull.head_sha == sha and pull.mergeable is None
