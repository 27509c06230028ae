"""Faults on demand: rules that make the local GitHub as unreliable as the real one can be.

Kinds for REST calls: `error` (answers `status`), `secondary_limit` (403 or 429 with `retry_after`),
`primary_limit` (403, nothing remaining), `slow` (waits `seconds`), `lost_answer` (does what was asked, and answers
`status`), `token_lag` (a fresh installation token fails its first `calls` calls), `log_missing` (the log blob answers
404), and `lag`: what was just written is not there yet, for the first `calls` calls about it, or for `seconds` where
these are given, and no call is for longer than `LONGEST_LAG`. `what` says which writing (LAGS):

- `ref`: reading a branch or ref that was just made or moved answers 404
- `ref_update`: moving a ref answers 422 "Reference update failed"
- `pull`: a pull request of a branch just pushed answers 422 "No commits between"
- `pull_read`: reading a pull request just opened answers 404
- `comments`, `checks`, `runs`: lists leave out the comments, check runs or workflow runs that are just made

`unassignable_bots` refuses to assign the bot of an App with 403.
Kinds for webhooks: `drop`, `duplicate`, `delay` (`seconds`), `reorder` (held until the next delivery has gone out).
Kinds for CI, where `path` is the workflow file: `ci_delay` (an event starts its runs `seconds` later), `ci_lost` (it
starts none), `ci_approval` (its runs wait until somebody approves them), `ci_conclusion` (a run ends with `conclusion`,
whatever its jobs came to).
"""

import fnmatch
import itertools
from collections.abc import Callable, Hashable
from dataclasses import asdict, dataclass
from typing import Any

from github.emulator.store.installations import InstallationToken

CALL_KINDS = ("error", "secondary_limit", "primary_limit", "slow", "lost_answer")
HOOK_KINDS = ("drop", "duplicate", "delay", "reorder")
CI_KINDS = ("ci_delay", "ci_lost", "ci_approval", "ci_conclusion")
OTHER_KINDS = ("token_lag", "log_missing", "lag", "unassignable_bots")
KINDS = CALL_KINDS + HOOK_KINDS + CI_KINDS + OTHER_KINDS
LAGS = ("ref", "ref_update", "pull", "pull_read", "comments", "checks", "runs", "activity")
LONGEST_LAG = 60.0
"""Seconds after which also what is counted in calls is there: however seldom somebody looks, GitHub is late by time."""
_LOST = {"answer": "lost_answer", "webhook": "drop", "run": "ci_lost"}


@dataclass
class Fault:
    """One rule. `method`, `path`, `event` and `what` are shell patterns; `times` counts down, None is for ever."""

    id: int
    kind: str
    method: str = "*"
    path: str = "*"
    event: str = "*"
    what: str = "*"
    times: int | None = None
    status: int = 500
    seconds: float = 0.0
    retry_after: int | None = 60
    calls: int = 2
    conclusion: str = "failure"

    def spend(self) -> bool:
        """Use the rule once; False when it is used up."""
        if self.times is None:
            return True
        if self.times <= 0:
            return False
        self.times -= 1
        return True


# the options of a rule, by what reads them from text
_TYPES: dict[str, Callable[[str], Any]] = {
    **dict.fromkeys(("method", "path", "event", "what", "conclusion"), str),
    **dict.fromkeys(("times", "status", "retry_after", "calls"), int),
    "seconds": float,
}


class Faults:
    """The rules in force."""

    def __init__(self) -> None:
        self.rules: list[Fault] = []
        self._ids = itertools.count(1)
        self._asked: dict[tuple[int, str, Hashable], int] = {}

    def add(self, kind: str, **options: Any) -> Fault:
        """Put a rule in force. Raises ValueError for an unknown kind, TypeError for an unknown option."""
        if kind not in KINDS:
            raise ValueError(f"unknown fault {kind!r}: one of {', '.join(KINDS)}")
        rule = Fault(next(self._ids), kind, **options)
        if kind == "lag" and not any(fnmatch.fnmatchcase(name, rule.what) for name in LAGS):
            raise ValueError(f"unknown lag {rule.what!r}: one of {', '.join(LAGS)}")
        self.rules.append(rule)
        return rule

    def add_text(self, text: str) -> Fault:
        """A rule as a person writes it: `KIND,option=value,…`. Raises ValueError for what is none."""
        kind, *pairs = (part.strip() for part in text.split(","))
        options: dict[str, Any] = {}
        for pair in pairs:
            name, _, value = pair.partition("=")
            if name not in _TYPES:
                raise ValueError(f"a fault has no option {name!r}: one of {', '.join(_TYPES)}")
            try:
                options[name] = _TYPES[name](value)
            except ValueError as error:
                raise ValueError(f"{name}={value}: a number was expected") from error
        return self.add(kind, **options)

    def lag(self, what: str, *, calls: int = 2, seconds: float = 0.0, times: int | None = None) -> Fault:
        """Let what was just written be invisible: to the first `calls` calls about it, or for `seconds`."""
        return self.add("lag", what=what, calls=calls, seconds=seconds, times=times)

    def ci_delay(self, seconds: float, event: str = "*", times: int | None = None) -> Fault:
        """Let events start their workflow runs `seconds` later."""
        return self.add("ci_delay", seconds=seconds, event=event, times=times)

    def lost(self, what: str, times: int | None = 1, **options: Any) -> Fault:
        """Lose an `answer` (what was asked is done), a `webhook`, or a `run` that an event should have started.

        Raises ValueError for anything else.
        """
        if what not in _LOST:
            raise ValueError(f"{what!r} cannot be lost: one of {', '.join(_LOST)}")
        return self.add(_LOST[what], times=times, **options)

    def clear(self) -> None:
        self.rules.clear()

    def for_call(self, method: str, path: str) -> list[Fault]:
        """The rules that hit this call, each used once."""
        return [
            rule
            for rule in self.rules
            if rule.kind in CALL_KINDS
            and fnmatch.fnmatchcase(method, rule.method)
            and fnmatch.fnmatchcase(path, rule.path)
            and rule.spend()
        ]

    def for_hook(self, event: str, action: str | None) -> list[Fault]:
        """The rules that hit this webhook, each used once. `event` patterns see `issues` and `issues.opened`."""
        return [rule for rule in self.rules if rule.kind in HOOK_KINDS and _about(rule, event, action) and rule.spend()]

    def for_ci(self, event: str, action: str | None) -> list[Fault]:
        """The rules that hit the runs which this event starts, each used once."""
        kinds = ("ci_delay", "ci_lost", "ci_approval")
        return [rule for rule in self.rules if rule.kind in kinds and _about(rule, event, action) and rule.spend()]

    def concluded(self, path: str, conclusion: str) -> str:
        """What a run of the workflow file at `path` concludes, when its jobs came to `conclusion`."""
        for rule in self.rules:
            if rule.kind == "ci_conclusion" and fnmatch.fnmatchcase(path, rule.path) and rule.spend():
                return rule.conclusion
        return conclusion

    def lags(self, what: str, thing: Hashable, age: float) -> bool:
        """Whether `thing`, written `age` seconds ago, is not there yet; asking counts as a call about it."""
        for rule in self.rules:
            if rule.kind != "lag" or not fnmatch.fnmatchcase(what, rule.what):
                continue
            if not rule.seconds and age >= LONGEST_LAG:
                continue
            key = (rule.id, what, thing)
            if key not in self._asked and not (rule.seconds and age >= rule.seconds) and not rule.spend():
                continue
            self._asked[key] = self._asked.get(key, 0) + 1
            if age < rule.seconds if rule.seconds else self._asked[key] <= rule.calls:
                return True
        return False

    def token_lags(self, token: InstallationToken) -> bool:
        """Whether the token is still too fresh; `calls` counts from its minting."""
        return any(rule.kind == "token_lag" and token.calls <= rule.calls for rule in self.rules)

    def log_missing(self, path: str) -> bool:
        return any(r.kind == "log_missing" and fnmatch.fnmatchcase(path, r.path) and r.spend() for r in self.rules)

    @property
    def unassignable_bots(self) -> bool:
        return any(rule.kind == "unassignable_bots" for rule in self.rules)

    def listed(self) -> list[dict[str, Any]]:
        return [asdict(rule) for rule in self.rules]


def _about(rule: Fault, event: str, action: str | None) -> bool:
    return any(fnmatch.fnmatchcase(name, rule.event) for name in (event, f"{event}.{action}"))
