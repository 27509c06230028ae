"""What goes wrong, when, and what people ask meanwhile: all of it follows from the seed."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

ROUND_SECONDS = 9.0


class What(StrEnum):
    """What is done to somebody."""

    KILL = "killed"
    PAUSE = "paused"


WEB, WORKERS, REDIS, DATABASE, RUNNER, BOX = "web", ("worker 1", "worker 2"), "redis", "database", "runner", "box"
VICTIMS = (WEB, *WORKERS, REDIS, DATABASE, RUNNER, BOX)
PAUSES = (0.5, 2.0, 5.0)
"""Seconds: longer than a lease, too."""

FAULTS = (
    "lag,what=*,seconds=2",
    "ci_delay,seconds=3",
    "slow,path=*,seconds=0.3,times=20",
    "error,method=POST,path=*,status=502,times=2",
    "error,method=PATCH,path=*,status=500,times=2",
    "error,method=GET,path=*,status=503,times=4",
    "lost_answer,method=POST,path=*/git/commits,status=502,times=1",
    "lost_answer,method=POST,path=*/git/refs,status=502,times=1",
    "lost_answer,method=POST,path=*/pulls,status=502,times=1",
    "lost_answer,method=POST,path=*/issues/*/comments,status=502,times=1",
    "lost_answer,method=POST,path=*/check-runs,status=502,times=1",
    "lost_answer,method=PATCH,path=*,status=502,times=2",
    "secondary_limit,method=POST,path=*,retry_after=2,times=1",
    "token_lag,calls=2,times=2",
    "drop,event=check_*,times=5",
    "drop,event=issue_comment,times=1",
    "duplicate,event=*,times=10",
    "delay,event=check_*,seconds=2,times=5",
    "reorder,event=*,times=4",
)


@dataclass(frozen=True)
class Act:
    """At `at` seconds of its round somebody is hit; `seconds`: how long the pause lasts, or a killed server is away."""

    at: float
    what: What
    whom: str
    seconds: float = 0.0

    def __str__(self) -> str:
        lasts = f" for {self.seconds:g} s" if self.seconds else ""
        return f"{self.at:4.1f} s  {self.whom} is {self.what}{lasts}"


@dataclass(frozen=True)
class Request:
    """Somebody asks for work on an issue of its own, and takes it back `stopped_at` seconds into the round."""

    at: float
    stopped_at: float | None = None


@dataclass(frozen=True)
class Round:
    """So many seconds in which things go wrong; `faults` are the local GitHub's, in its own words."""

    faults: Sequence[str]
    requests: Sequence[Request]
    acts: Sequence[Act]


def schedule(seed: int, rounds: int, *, database_dies: bool) -> list[Round]:
    """The rounds of a seed. `database_dies`: it is a server of its own that can be killed."""
    chance = random.Random(seed)
    return [_round(chance, database_dies) for _ in range(rounds)]


def _round(chance: random.Random, database_dies: bool) -> Round:
    faults = chance.sample(FAULTS, 4)
    requests = [Request(round(chance.uniform(0, 2), 1))]
    if chance.random() < 0.5:
        asked = round(chance.uniform(0, 4), 1)
        requests.append(Request(asked, round(asked + chance.uniform(0.5, 4), 1) if chance.random() < 0.5 else None))
    acts = []
    at = chance.uniform(0.2, 1.5)
    while at < ROUND_SECONDS:
        acts.append(_act(chance, round(at, 1), database_dies))
        at += chance.uniform(0.7, 2.5)
    return Round(faults, requests, acts)


def _act(chance: random.Random, at: float, database_dies: bool) -> Act:
    # a box that is lost costs a try of its turn, and two of them the session: one in many
    whom = chance.choices(VICTIMS, weights=(3, 3, 3, 2, 2, 3, 0.5))[0]
    what = chance.choice(list(What))
    if whom == BOX or (whom == DATABASE and not database_dies):
        what = What.KILL if whom == BOX else What.PAUSE
    waits = what is What.PAUSE or whom in (REDIS, DATABASE)
    return Act(at, what, whom, chance.choice(PAUSES) if waits else 0.0)
