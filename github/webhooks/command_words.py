"""Which command a few words are, and which one was meant by words that only come close. Pure.

A sentence is free text even where a command's word begins it ("stop using urllib"): only a command that stands alone,
with courtesies around it, is one. Words that stand alone and are nearly a command start nothing: whoever mistypes
"stop" shall not get an agent.
"""

import re
from dataclasses import dataclass
from typing import Final

from github.webhooks.commands import Approve, Autofix, Command, Help, Retry, Run, Status, Stop

MAX_COMMAND = 200  # characters of a command with all that is around it

_COMMANDS: Final[dict[str, Command]] = {
    "stop": Stop(),
    "cancel": Stop(),
    "retry": Retry(),
    "try again": Retry(),
    "status": Status(),
    "help": Help(),
    "autofix on": Autofix(on=True),
    "autofix off": Autofix(on=False),
}
_BEFORE = r"(?:(?:please|pls|(?:can|could|will|would) you)\s+)*"
_AFTER = r"(?:\s+(?:please|pls|now|it|this|that|again|everything|immediately|here|thanks|thx|thank\s+you))*"
_COMMAND = re.compile(
    rf"{_BEFORE}(?P<command>stop|cancel|retry|try\s+again|status|help|autofix\s+(?:on|off)"
    r"|approve\s+`?(?P<commit>[0-9a-f]{12,40})`?)"
    rf"{_AFTER}\s*(?:[.,;:!?)]+(?=\s|$)|$)",
    re.IGNORECASE,
)
_COURTESIES = re.compile(rf"\A{_BEFORE}(?P<rest>.*?){_AFTER}\s*[.,;:!?)]*\Z", re.IGNORECASE | re.DOTALL)
_AROUND = re.compile(r"\A[\W_]+|\]\([^)\s]*\)|</?[a-z][^>]*>|[\W_]+\Z", re.IGNORECASE)
_WORDS = ("stop", "cancel", "retry", "status", "help", "autofix")
# Words that are no command of ours and mean one: nobody who writes "abort" wants an agent to begin.
_MEANT: Final[dict[str, str]] = {
    **dict.fromkeys(
        ("abort", "end", "halt", "quit", "exit", "kill", "terminate", "pause", "cease", "enough", "unassign"), "stop"
    ),
    **dict.fromkeys(("again", "rerun", "re-run", "re-try", "restart", "redo", "repeat", "relaunch", "resume"), "retry"),
    **dict.fromkeys(("state", "info", "progress", "ping", "stats"), "status"),
    **dict.fromkeys(("commands", "usage", "options", "man", "?"), "help"),
}
_SWITCHES = frozenset(
    {"on", "off", "of", "onn", "offf", "yes", "no", "true", "false", "0", "1", "?", "start", "stop", "toggle"}
    | {"enable", "enabled", "disable", "disabled"}
)


@dataclass(frozen=True)
class Understood:
    """A command, and how much of the words it took; or, with `nearest`, the commands that may have been meant."""

    command: Command
    taken: int = 0
    nearest: tuple[str, ...] = ()


def understand(said: str, *, in_table: bool = False) -> Understood:
    """The command in the words after a mention; markup, quotes and emoji around it do not matter."""
    words = said.partition("|")[0] if in_table else said
    bare = _AROUND.sub("", words) if len(words) <= MAX_COMMAND else ""
    if bare and (alone := _COMMAND.fullmatch(bare)):
        return Understood(_of(alone), len(said))
    if match := _COMMAND.match(said):
        return Understood(_of(match), match.end())
    return Understood(Run(), nearest=nearest(bare) if bare else ("help",) if words.strip() == "?" else ())


def nearest(words: str) -> tuple[str, ...]:
    """The commands that these words may have been meant for; () for words that are a task."""
    found = _COURTESIES.match(words)
    parts = (found["rest"] if found else words).lower().split()
    if not parts or len(parts) > 3:
        return ()
    if parts[0] in ("approve", "approved"):
        return ("approve COMMIT",)
    joined = " ".join(parts)
    if joined in ("auto fix", "auto-fix", "fix auto") or _near(joined.replace("-", ""), "autofix"):
        return ("autofix on", "autofix off")
    if len(parts) > 1:
        return _switch(parts)
    (word,) = parts
    if word in _MEANT:
        return (_MEANT[word],)
    close = [known for known in _WORDS if _near(word, known)]
    return tuple(close)


def _switch(parts: list[str]) -> tuple[str, ...]:
    """`autofix` with a word that is neither `on` nor `off`, or with one of them where it does not stand."""
    rest = [part.strip(":=") for part in parts]
    if rest[:2] in (["auto", "fix"], ["auto", "repair"]):
        rest = ["autofix", *rest[2:]]
    at = [number for number, part in enumerate(rest) if _near(part.replace("-", ""), "autofix")]
    others = [part for number, part in enumerate(rest) if number not in at and part not in ("turn", "switch")]
    if not at or any(part not in _SWITCHES for part in others):
        return ()
    return ("autofix on", "autofix off")


def _of(match: re.Match[str]) -> Command:
    if match["commit"]:
        return Approve(match["commit"].lower())
    return _COMMANDS[" ".join(match["command"].lower().split())]


def _near(word: str, known: str) -> bool:
    """Whether `word` is `known` with a slip or two: a letter too many, one missing, another one, or two swapped."""
    if word == known:
        return True
    allowed = 1 if len(known) <= 5 else 2
    if len(word) < 3 or abs(len(word) - len(known)) > allowed:
        return False
    return _distance(word, known) <= allowed


def _distance(one: str, other: str) -> int:
    """How many slips lie between two short words (optimal string alignment)."""
    rows = [list(range(len(other) + 1))]
    for i, a in enumerate(one, start=1):
        row = [i]
        for j, b in enumerate(other, start=1):
            best = min(rows[i - 1][j] + 1, row[j - 1] + 1, rows[i - 1][j - 1] + (a != b))
            if i > 1 and j > 1 and a == other[j - 2] and one[i - 2] == b:
                best = min(best, rows[i - 2][j - 2] + 1)
            row.append(best)
        rows.append(row)
    return rows[-1][-1]
