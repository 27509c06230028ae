"""Which checks of other systems than Actions a repository's pull requests usually get: no file promises those.

What the last pull requests into the same base branch all have counts, and what an earlier commit of the same pull
request had; where there was no pull request, what the base branch itself has.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from github.checks.answers import app_id_of, read_status
from github.checks.head_query import MOST_COMMITS, HeadAnswer, TooMany, ask_reporters
from github.checks.model import ACTIONS, Check, Kind
from github.checks.state import head_answer
from github.client.errors import Invalid, NotFound
from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle
from github.repositories.queries import head, read_pull

PULLS = 3  # pull requests that are looked at
LISTED = 10  # and among how many of the newest they are looked for


@dataclass(frozen=True, slots=True)
class Reporter:
    """A check that comes back on every commit: its app (0: a commit status) and its name."""

    app_id: int
    name: str

    def reported(self, checks: Sequence[Check]) -> bool:
        """Whether it is among the checks of a commit."""
        return any(
            each.name == self.name and (each.kind is Kind.STATUS or each.app_id == self.app_id)
            for each in checks
            if each.kind in (Kind.STATUS, Kind.CHECK_RUN)
        )


async def usual_reporters(
    repository: RepositoryHandle,
    *,
    branch: str,
    base: str,
    earlier: str | None,
    own_app_id: int,
    max_age: float,
) -> frozenset[Reporter]:
    """What to expect of a commit on `branch` for `base`; `earlier` is a former head of the same branch.

    What GitHub said within the last `max_age` seconds will do.
    """
    heads = await _other_heads(repository, branch, base, max_age)
    if not heads and (tip := await head(repository, base, max_age=max_age)):
        heads = [tip]
    by_commit = await reporters(repository, [*heads, *filter(None, [earlier])], own_app_id=own_app_id, max_age=max_age)
    before = by_commit[earlier] if earlier else frozenset[Reporter]()
    found = [by_commit[sha] for sha in heads]
    return before | (frozenset.intersection(*found) if found else frozenset())


async def reporters(
    repository: RepositoryHandle, shas: Sequence[str], *, own_app_id: int, max_age: float
) -> dict[str, frozenset[Reporter]]:
    """Who reported on each commit, Actions and ourselves left out; nobody on one that is not there any more."""
    told = await _told(repository, shas, max_age)

    def of(answer: HeadAnswer) -> frozenset[Reporter]:
        by_apps = (
            Reporter(app_id_of(each), str(each.get("name") or ""))
            for each in answer.check_runs
            if (each.get("app") or {}).get("slug") != ACTIONS and app_id_of(each) != own_app_id
        )
        return frozenset([*by_apps, *(Reporter(0, read_status(each).name) for each in answer.statuses)])

    return {sha: of(answer) for sha, answer in told.items()}


async def _told(repository: RepositoryHandle, shas: Sequence[str], max_age: float) -> dict[str, HeadAnswer]:
    """The checks of each commit, by one query where that is to be had."""
    try:
        found = await ask_reporters(repository, shas[:MOST_COMMITS], max_age=max_age)
    except (QueryUnavailable, TooMany):
        found = {}
    for sha in shas:
        if sha not in found:
            try:
                found[sha] = await head_answer(repository, sha, max_age=max_age)
            except (NotFound, Invalid):
                found[sha] = HeadAnswer([], [], [], None)
    return found


async def _other_heads(repository: RepositoryHandle, branch: str, base: str, max_age: float) -> list[str]:
    params: dict[str, str | int] = {
        "base": base,
        "state": "all",
        "sort": "updated",
        "direction": "desc",
        "per_page": LISTED,
    }
    pulls = map(read_pull, await repository.get("pulls", params=params, max_age=max_age))
    heads = [each.head_sha for each in pulls if not each.from_fork and each.head_ref != branch]
    return heads[:PULLS]
