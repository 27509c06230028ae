"""Faults on demand: rules that make the local GitHub as unreliable as the real one can be.

Kinds for REST calls: `error` (answers `status`), `secondary_limit` (403 or 429 with `retry_after`),
`primary_limit` (403, nothing remaining), `slow` (waits `seconds`), `lost_answer` (does what was asked, and answers
`status`), `token_lag` (a fresh installation token fails its
first `calls` calls), `log_missing` (the log blob answers 404).
Kinds for webhooks: `drop`, `duplicate`, `delay` (`seconds`), `reorder` (held until the next delivery has gone out).
"""

import fnmatch
import itertools
from dataclasses import asdict, dataclass
from typing import Any

from github.emulator.store.installations import InstallationToken

CALL_KINDS = ("error", "secondary_limit", "primary_limit", "slow", "lost_answer")
HOOK_KINDS = ("drop", "duplicate", "delay", "reorder")
OTHER_KINDS = ("token_lag", "log_missing")


@dataclass
class Fault:
    """One rule. `method`, `path` and `event` are shell patterns; `times` counts down, None is for ever."""

    id: int
    kind: str
    method: str = "*"
    path: str = "*"
    event: str = "*"
    times: int | None = None
    status: int = 500
    seconds: float = 0.0
    retry_after: int | None = 60
    calls: int = 2

    def spend(self) -> bool:
        """Use the rule once; False when it is used up."""
        if self.times is None:
            return True
        if self.times <= 0:
            return False
        self.times -= 1
        return True


class Faults:
    """The rules in force."""

    def __init__(self) -> None:
        self.rules: list[Fault] = []
        self._ids = itertools.count(1)

    def add(self, kind: str, **options: Any) -> Fault:
        """Put a rule in force. Raises ValueError for an unknown kind, TypeError for an unknown option."""
        if kind not in CALL_KINDS + HOOK_KINDS + OTHER_KINDS:
            raise ValueError(f"unknown fault {kind!r}: one of {', '.join(CALL_KINDS + HOOK_KINDS + OTHER_KINDS)}")
        rule = Fault(next(self._ids), kind, **options)
        self.rules.append(rule)
        return rule

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
        names = (event, f"{event}.{action}")
        return [
            rule
            for rule in self.rules
            if rule.kind in HOOK_KINDS and any(fnmatch.fnmatchcase(n, rule.event) for n in names) and rule.spend()
        ]

    def token_lags(self, token: InstallationToken) -> bool:
        """Whether the token is still too fresh; `calls` counts from its minting."""
        return any(rule.kind == "token_lag" and token.calls <= rule.calls for rule in self.rules)

    def log_missing(self, path: str) -> bool:
        return any(r.kind == "log_missing" and fnmatch.fnmatchcase(path, r.path) and r.spend() for r in self.rules)

    def listed(self) -> list[dict[str, Any]]:
        return [asdict(rule) for rule in self.rules]
