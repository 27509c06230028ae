"""Up to where GitHub's log of deliveries was looked at, so that each look begins where the last one ended. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from typing import Any

from github.webhooks.deliveries import LoggedDelivery

MOST_ASKED = 5_000
"""Deliveries whose tries are counted; of more, in an outage, the oldest are counted anew."""


@dataclass(frozen=True)
class Mark:
    """Times are Unix seconds.

    `until`: all that was delivered before was looked at. `page` and `begun` belong to a walk under way: where it goes
    on, and what `until` will be when it ends. `asked`: how often deliveries were asked for, by GUID. `since`: since
    when deliveries of each installation were received, as far as those that came before `counted` tell.
    """

    until: float
    page: str | None = None
    begun: float | None = None
    asked: dict[str, int] = field(default_factory=dict)
    since: dict[int, float] = field(default_factory=dict)
    counted: float = 0.0

    def begin(self, page: str, at: float) -> "Mark":
        """A walk begins: everything delivered before `at` will have been looked at when it ends."""
        return replace(self, page=page, begun=at)

    def end(self) -> "Mark":
        """The walk under way has come to what was looked at before."""
        return replace(self, until=max(self.until, self.begun or 0.0), page=None, begun=None)

    def ask(self, deliveries: Iterable[LoggedDelivery]) -> "Mark":
        """These were asked for once more."""
        asked = dict(self.asked)
        for delivery in deliveries:
            asked[delivery.guid] = asked.pop(delivery.guid, 0) + 1
        return replace(self, asked=dict(list(asked.items())[-MOST_ASKED:]))

    def arrived(self, guids: Iterable[str]) -> "Mark":
        """These are in the inbox."""
        gone = set(guids)
        return replace(self, asked={guid: count for guid, count in self.asked.items() if guid not in gone})

    def stored(self) -> dict[str, Any]:
        """As JSON holds it, whose keys are texts."""
        return {**vars(self), "since": {str(installation): at for installation, at in self.since.items()}}

    @classmethod
    def read(cls, value: dict[str, Any]) -> "Mark":
        """What `stored` made."""
        since = {int(installation): float(at) for installation, at in value["since"].items()}
        return cls(**{**value, "since": since})
