"""Few combinations of many values in which every pair of two of them occurs."""

import functools
import itertools
from collections.abc import Iterator, Mapping
from typing import Any

from tests.charts.render import merged

Object = dict[str, Any]

AXES: dict[str, dict[str, Object]] = {
    "database": {
        "bundled": {},
        "external": {
            "postgresql": {"enabled": False},
            "secrets": {"databaseUrl": {"existingSecret": "database", "key": "url"}},
        },
    },
    "redis": {
        "bundled": {},
        "external": {
            "valkey": {"enabled": False},
            "secrets": {"redisUrl": {"existingSecret": "redis", "key": "url"}},
        },
    },
    "addresses": {
        "dual stack": {},
        "IPv6 only": {
            "boxes": {"network": {"except": ["0.0.0.0/1", "128.0.0.0/1"], "dns": {"cidrs": ["fd00:10::a/128"]}}}
        },
        "IPv4 only": {
            "boxes": {"network": {"exceptIPv6": ["::/1", "8000::/1"], "dns": {"cidrs": ["169.254.20.10/32"]}}}
        },
    },
    "pages": {
        "closed": {},
        "ingress": {"ingress": {"enabled": True, "className": "internal"}},
        "webhook": {"ingress": {"webhook": {"enabled": True, "className": "public", "host": "hooks.example.com"}}},
    },
    "isolation": {
        "repository": {},
        "session": {"boxes": {"isolation": "session", "warm": 2}},
    },
    "egress": {
        "internet": {},
        "any port": {"boxes": {"network": {"ports": []}}},
        "allow list": {
            "boxes": {"network": {"egress": "allowList", "allow": [{"cidr": "10.1.2.0/24", "ports": [443]}]}}
        },
        "gateways": {"boxes": {"network": {"egress": "gateway", "mirrors": [{"cidr": "10.1.3.0/24"}]}}},
    },
    "namespace": {"its own": {}, "the release's": {"boxes": {"namespace": "team"}}},
    "homes": {
        "kept": {},
        "not kept": {"boxes": {"pod": {"home": {"keep": False}}}},
        "none": {"boxes": {"pod": {"home": {"size": ""}}}},
    },
}


def pairwise(axes: Mapping[str, Mapping[str, Object]]) -> Iterator[dict[str, str]]:
    """Choices, one of each axis, that together hold every pair of two choices: the one with most new pairs next."""
    names = list(axes)

    def pairs(choice: Mapping[str, str]) -> set[tuple[tuple[str, str], tuple[str, str]]]:
        return set(itertools.combinations([(name, choice[name]) for name in names], 2))

    every = [dict(zip(names, values, strict=True)) for values in itertools.product(*(axes[name] for name in names))]
    left = set().union(*map(pairs, every))
    while left:
        best = max(every, key=lambda choice: len(pairs(choice) & left))
        left -= pairs(best)
        yield best


@functools.cache
def combinations() -> dict[str, Object]:
    """The values of each, by what was chosen."""
    made = {}
    for choice in pairwise(AXES):
        values: Object = {}
        for axis, name in choice.items():
            values = merged(values, AXES[axis][name])
        made[", ".join(f"{axis} {name}" for axis, name in choice.items())] = values
    return made
