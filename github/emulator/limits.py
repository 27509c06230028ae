"""The primary rate limit, points an hour for each caller; and the one on content, creations a minute and an hour."""

from dataclasses import dataclass, field
from datetime import datetime, timedelta

from github.emulator.actor import Actor
from github.emulator.clock import Clock

HOUR = timedelta(hours=1)
LIMITS = {"core": 5000, "graphql": 5000, "search": 30, "integration_manifest": 5000}
ANONYMOUS_LIMIT = 60
CREATIONS = {timedelta(minutes=1): 80, HOUR: 500}


@dataclass
class Budget:
    limit: int
    resource: str
    reset: datetime
    used: int = 0

    @property
    def remaining(self) -> int:
        return max(self.limit - self.used, 0)

    def headers(self) -> dict[str, str]:
        return {
            "x-ratelimit-limit": str(self.limit),
            "x-ratelimit-remaining": str(self.remaining),
            "x-ratelimit-used": str(self.used),
            "x-ratelimit-reset": str(int(self.reset.timestamp())),
            "x-ratelimit-resource": self.resource,
        }

    def shown(self) -> dict[str, int]:
        return {
            "limit": self.limit,
            "remaining": self.remaining,
            "reset": int(self.reset.timestamp()),
            "used": self.used,
        }


@dataclass
class Limits:
    """Budgets by caller and resource, each renewed an hour after its first use."""

    clock: Clock
    overrides: dict[str, int] = field(default_factory=dict)
    _budgets: dict[tuple[str, str], Budget] = field(default_factory=dict)
    _created: dict[str, list[datetime]] = field(default_factory=dict)

    def budget(self, actor: Actor, resource: str) -> Budget:
        """The caller's budget of a resource: core, graphql, search or integration_manifest."""
        key = (_name(actor), resource)
        now = self.clock.now()
        found = self._budgets.get(key)
        if found is None or found.reset <= now:
            limit = LIMITS[resource]
            if actor.kind == "anonymous" and resource != "integration_manifest":
                limit = ANONYMOUS_LIMIT
            found = Budget(self.overrides.get(resource, limit), resource, now + HOUR)
            self._budgets[key] = found
        return found

    def may_create(self, actor: Actor) -> bool:
        """Whether the caller may create content once more; counts it then."""
        now = self.clock.now()
        past = [moment for moment in self._created.get(_name(actor), []) if moment > now - HOUR]
        self._created[_name(actor)] = past
        if any(sum(moment > now - span for moment in past) >= most for span, most in CREATIONS.items()):
            return False
        past.append(now)
        return True


def _name(actor: Actor) -> str:
    if actor.installation is not None:
        return f"installation {actor.installation.id}"
    if actor.app is not None:
        return f"app {actor.app.id}"
    return f"user {actor.user.id}" if actor.user else "anonymous"
