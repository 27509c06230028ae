"""Which plain lines hold a word of failure or a place in a file at all: only those are worth the dear expressions."""

from collections.abc import Sequence
from functools import cache

import hyperscan

from loops.evidence import words
from loops.evidence.general import WORDS

MORE = (
    ":\\d",
    "\\(\\d",
    "\\.{3}",
    "unbound",
    "substitution",
    "fault",
    "memory",
    "alloc",
    "permission",
    "auth",
    "credential",
    "resource",
    "input",
    "timed",
    "symbol",
    "sig[a-z]{3}",
    "trap",
    "bus error",
    "instruction",
    "free",
    "stack",
    "terminate",
    "require",
    "unhandled",
    "executed",
    "exited",
    "lost",
    "oom",
    "resolve",
    "provides",
    "go\\.(?:sum|mod)",
    "vendoring",
    "disk",
    "recogni",
    "err_pnpm",
    "elifecycle",
    "version",
    "path",
    "find",
    "service",
    "commandnotfound",
    "::",
    "in function",
    "differ",
    "expected",
)


@cache
def _database() -> hyperscan.Database:
    patterns = [*words.PLAIN, *words.STRONG, *WORDS, *MORE]
    database = hyperscan.Database()
    database.compile(
        expressions=[pattern.encode() for pattern in patterns],
        flags=[hyperscan.HS_FLAG_CASELESS] * len(patterns),
        ids=list(range(len(patterns))),
        elements=len(patterns),
    )
    return database


def spoken(texts: Sequence[str]) -> list[bool]:
    """One answer a line."""
    starts: list[int] = []
    at = 0
    raw = [text.encode(errors="replace") for text in texts]
    for line in raw:
        at += len(line) + 1
        starts.append(at)
    hits: list[int] = []
    add = hits.append
    _database().scan(b"\n".join(raw), match_event_handler=lambda _id, _from, to, _flags, _context: add(to))
    hits.sort()
    answer = [False] * len(texts)
    i = 0
    for to in hits:
        while starts[i] < to:
            i += 1
        answer[i] = True
    return answer
