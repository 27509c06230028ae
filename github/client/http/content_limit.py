"""How much content may be created: GitHub allows 80 creations a minute and 500 an hour, on all surfaces together.

https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api#about-secondary-rate-limits
"""

import re
from collections import deque
from dataclasses import dataclass, field

import httpx

from github.client.http.mutations import creates, mutation_of

# seconds, and how many in them: nine tenths of what is allowed, since GitHub counts by its own clock
WINDOWS = ((60.0, 72), (3600.0, 450))
BESIDES = 0.75
"""The share that what people do not wait for may use up: check runs are told by the comment as well."""

_FOR_PEOPLE = re.compile(r"/(?:issues|comments|pulls|reviews|replies)$")
_BESIDES = re.compile(r"/check-runs$")


def share_of(request: httpx.Request) -> float:
    """Which share of the limits a request may use; 0 for one that creates no content."""
    path = request.url.path
    if request.method != "POST":
        return 0.0
    if creates(mutation_of(request)):
        return 1.0
    return 1.0 if _FOR_PEOPLE.search(path) else BESIDES if _BESIDES.search(path) else 0.0


@dataclass
class Creations:
    """What one installation created within the last hour, by Unix time."""

    moments: deque[float] = field(default_factory=deque)

    def wait(self, now: float, share: float) -> float:
        """The seconds until one more creation fits into `share` of every window; 0: it does now, and is counted."""
        while self.moments and self.moments[0] <= now - WINDOWS[-1][0]:
            self.moments.popleft()
        for seconds, most in WINDOWS:
            within = [moment for moment in self.moments if moment > now - seconds]
            if (over := len(within) - int(most * share)) >= 0:
                return within[over] + seconds - now
        self.moments.append(now)
        return 0.0
