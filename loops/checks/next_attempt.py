"""What to do about settled red checks: repair, run again, or say why not. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from loops.checks.collect import Failure, fingerprint
from loops.guards.model import shown

_CHECKS = re.compile(r"\b(?:ci|checks?|tests?|builds?|pipelines?|workflows?|lint(?:er|ing)?)\b", re.IGNORECASE)
_BROKEN = re.compile(
    r"\b(?:red|fail\w*|broken?|breaks?|breaking|fix\w*|repair\w*|mend\w*|green|pass(?:es|ing)?)\b", re.IGNORECASE
)
SAME_TWICE = 2  # the same failure after this many attempts is not going to go away by another


@dataclass(frozen=True)
class History:
    """The attempts since a person last asked, their fingerprints in order, and how often what is red ran again."""

    count: int
    fingerprints: tuple[str, ...]
    reruns: int


@dataclass(frozen=True)
class Rerun:
    """All of it looks like the machinery and not like the code: run it again before an attempt is spent."""

    failures: tuple[Failure, ...]


@dataclass(frozen=True)
class Repair:
    """An attempt at these; `not_ours` failed in the same way before our work and are left alone."""

    failures: tuple[Failure, ...]
    not_ours: tuple[str, ...]
    fingerprint: str


@dataclass(frozen=True)
class GiveUp:
    """No attempt helps: `reason` is one of the session's, `note` a sentence for people."""

    reason: str
    note: str


def choose(
    failures: Sequence[Failure], known: frozenset[str], history: History, *, cap: int, reruns: int
) -> Rerun | Repair | GiveUp:
    """`known` are fingerprints that the base commit shows too; `reruns` is how often a head's may be run again.

    Beside other failures those of the machinery are left alone: the next commit runs everything anew.
    """
    ours = tuple(each for each in failures if each.distilled.fingerprint not in known)
    not_ours = tuple(name for each in failures if each not in ours for name in each.names)
    if not ours:
        return GiveUp("base_red", f"Red in the same way on the base branch: {_names(not_ours)}.")
    of_the_code = tuple(each for each in ours if each.distilled.kind != "infrastructure")
    if not of_the_code and history.reruns < reruns:
        return Rerun(ours)
    ours = of_the_code or ours
    names = _names([name for each in ours for name in each.names])
    if history.count >= cap:
        return GiveUp("cap_reached", f"Still red after {history.count} of {cap} attempts: {names}.")
    mark = fingerprint(ours)
    if history.fingerprints[-SAME_TWICE:] == (mark,) * SAME_TWICE:
        return GiveUp("no_progress", f"{names} fail in the same way as before the last {SAME_TWICE} attempts.")
    return Repair(ours, not_ours, mark)


def asked_about_checks(text: str) -> bool:
    """Whether a person's words are about what is red, so that a failure of the base branch is theirs to repair too."""
    return bool(_CHECKS.search(text) and _BROKEN.search(text))


def _names(names: Sequence[str]) -> str:
    listed = ", ".join(map(shown, names[:10]))
    return f"{listed} and {len(names) - 10} more" if len(names) > 10 else listed
