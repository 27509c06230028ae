"""Whether a person may ask for work in a repository: GitHub's answer of this moment, never one that was kept."""

from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

import structlog

from app.web.api.problems import Problem
from github.apps.access import access_of
from github.client.app import GitHubApp
from github.client.errors import Forbidden, GitHubError, Gone, Invalid, NotFound, RateLimited
from github.client.repository import RepositoryHandle

log = structlog.get_logger(__name__)

QUESTIONS: Final = 120
"""That one person's calls cost a minute, in one process: nobody uses up what GitHub lets an installation ask."""
WINDOW: Final = 60.0
PEOPLE: Final = 4096


@dataclass(frozen=True)
class Place:
    """A repository of an installation."""

    installation_id: int
    repository_id: int
    full_name: str


@dataclass(frozen=True)
class Who:
    """A person of GitHub's."""

    id: int
    login: str


class Rights:
    """Asks GitHub by the App `github`; without one nobody may do anything."""

    def __init__(self, github: GitHubApp | None, clock: Callable[[], float]) -> None:
        self._github = github
        self._clock = clock
        self._asked: OrderedDict[int, tuple[float, int]] = OrderedDict()

    async def may_ask(self, who: Who, place: Place) -> bool:
        """Whether they have write access, as for a mention. Raises Problem where GitHub cannot be asked."""
        try:
            return (await access_of(self.repository(who, place), who.login, who.id)).may_write
        except (NotFound, Forbidden, Gone, Invalid):  # gone, not ours any more, or suspended: nobody may
            return False
        except RateLimited as error:
            raise _away(error, max(1, int(error.retry_at - self._clock()))) from None
        except GitHubError as error:
            raise _away(error, 5) from None

    def repository(self, who: Who, place: Place) -> RepositoryHandle:
        """The repository, for questions that count as this person's. Raises Problem."""
        if self._github is None:
            raise Problem(503, "this process has no GitHub App to ask what a person may: set GREENLOOP_APP_ID")
        self._count(who)
        return RepositoryHandle(self._github, place.installation_id, place.repository_id, place.full_name)

    def _count(self, who: Who) -> None:
        now = self._clock()
        began, count = self._asked.get(who.id, (now, 0))
        if not 0 <= now - began < WINDOW:
            began, count = now, 0
        if count >= QUESTIONS:
            wait = max(1, int(began + WINDOW - now))
            raise Problem(
                429,
                f"your calls have asked GitHub {QUESTIONS} times within a minute: try again in {wait} s",
                headers={"retry-after": str(wait)},
            )
        self._asked[who.id] = (began, count + 1)
        self._asked.move_to_end(who.id)
        while len(self._asked) > PEOPLE:
            self._asked.popitem(last=False)


def _away(error: GitHubError, seconds: int) -> Problem:
    log.warning("api.github_failed", error=str(error))
    return Problem(
        503,
        "GitHub cannot be asked now what you may do, and nothing is done without its answer: try again soon",
        headers={"retry-after": str(seconds)},
    )
