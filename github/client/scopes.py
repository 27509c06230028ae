"""What a token is allowed: the least for each kind of work, and never more than the installation's owner accepted."""

from collections.abc import Mapping
from enum import Enum


class Scope(Enum):
    """Kinds of work that the service does with a token of its own. A box gets none of these, see `CLONE`."""

    READ = "read"
    TALK = "talk"
    PUBLISH = "publish"
    RERUN = "rerun"


CLONE: Mapping[str, str] = {"contents": "read", "metadata": "read"}

_WANTED: dict[Scope, Mapping[str, str]] = {
    Scope.READ: {
        "actions": "read",
        "checks": "read",
        "contents": "read",
        "issues": "read",
        "metadata": "read",
        "pull_requests": "read",
        "statuses": "read",
    },
    Scope.TALK: {"checks": "write", "issues": "write", "metadata": "read", "pull_requests": "write"},
    Scope.PUBLISH: {"contents": "write", "metadata": "read", "pull_requests": "write", "workflows": "write"},
    Scope.RERUN: {"actions": "write", "checks": "write", "metadata": "read"},
}
_ORDER = {"read": 1, "write": 2, "admin": 3}


def permissions_for(scope: Scope, granted: Mapping[str, str]) -> dict[str, str]:
    """The permissions to ask for: those of the scope, each at most as high as `granted`, missing ones left out."""
    return {
        name: level if _ORDER[level] <= _ORDER.get(granted[name], 0) else granted[name]
        for name, level in _WANTED[scope].items()
        if name in granted
    }


def allows(needed: str, held: Mapping[str, str]) -> bool:
    """Whether `held` covers `needed`, the header `x-accepted-github-permissions` ("a=read,b=write; c=read").

    An empty header says nothing, so nothing is missing.
    """
    choices = [choice.strip() for choice in needed.split(";") if choice.strip()]
    return not choices or any(_covers(choice, held) for choice in choices)


def _covers(choice: str, held: Mapping[str, str]) -> bool:
    pairs = (pair.partition("=")[::2] for pair in choice.split(","))
    return all(_ORDER.get(held.get(name.strip(), ""), 0) >= _ORDER.get(level.strip(), 1) for name, level in pairs)
