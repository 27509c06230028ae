"""Which assertions of a test are reached when it runs, read off indentation and words. Pure, one pass.

Formatters indent code of every language by its blocks, so one reading serves them all. It need not be exact: two
readings of the same test, before and after, are compared, and what is odd in both is no change.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from loops.guards.recognisers import ASSERTION, LINE, MARKERS, NAMES
from loops.guards.weakening.blocks import (
    ENDS,
    FAILS,
    FUNCTION,
    HANDLER,
    NEVER,
    ONE_LINE_END,
    OTHERWISE,
    SUPPRESS,
    TOP,
    catches_failures,
    core_of,
    kind_of,
    left_open,
)

LIVE, MAYBE, DEAD = "reached", "reached only under a condition", "never reached"
_COMMENT = ("//", "* ", "/*", "<!--", "--")
_MARKER_REACH = 8


@dataclass(slots=True)
class Case:
    """A test: the line of its head, the head of what it stands in, whether a runner would collect it, and its
    assertions with how they are reached."""

    name: str
    line: int
    within: str = ""
    collected: str = LIVE
    asserts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(slots=True)
class _Block:
    indent: int
    kind: str
    at: int
    name: str = ""
    ended: str = LIVE
    ended_at: int = -1
    asserts: bool = False
    case: Case | None = None
    otherwise: bool = False


@dataclass(slots=True)
class _Assertion:
    case: Case
    text: str
    state: str
    blocks: tuple[_Block, ...]
    fails: bool


def cases(lines: Sequence[str], language: str) -> list[Case]:
    """The tests in a file, in order, with their assertions."""
    return _Reading(lines, language).read()


class _Reading:
    def __init__(self, lines: Sequence[str], language: str) -> None:
        self._lines = lines
        self._language = language
        self._stack: list[_Block] = []
        self._over: dict[int, _Block] = {}  # the last block that ended, by its indentation
        self._handler: tuple[int, _Block] | None = None
        self._swallows: set[int] = set()  # where the blocks begin whose failures are caught
        self._cases: list[Case] = []
        self._asserts: list[_Assertion] = []
        self._used: set[str] = set()
        for line in lines:
            text = line.strip()[:LINE]
            named = FUNCTION.match(text)
            self._used.update(re.findall(r"\w+", text[named.end() :] if named else text))

    def read(self) -> list[Case]:
        pattern, marker = NAMES[self._language], MARKERS.get(self._language)
        marked, until = -_MARKER_REACH - 1, ""
        for at, raw in enumerate(self._lines):
            text = raw.strip()[:LINE]
            outer, until = until, left_open(text, until, self._language)
            if not text or outer or text.startswith(_COMMENT) or (text[0] == "#" and text[:2] != "#["):
                if outer and self._cases and ASSERTION.search(text):
                    self._note(text, DEAD)
                continue
            indent = len(raw) - len(raw.lstrip())
            self._close(indent, text)
            if marker and marker.search(text):
                marked = at
            match = pattern.search(text)
            if match and (marker is None or marker.search(text) or at - marked <= _MARKER_REACH):
                name = next((group for group in match.groups() if group), match.group())
                self._cases.append(Case(name, at + 1, self._within(), self._collected()))
                marked = -_MARKER_REACH - 1
                group = re.match(r"x?f?(?:describe|context|suite)\b|class\b", text)
                self._stack.append(_Block(indent, "group" if group else "test", at, case=self._cases[-1]))
            elif indent == 0 and (top := TOP.match(text)):
                self._cases.append(Case(top[1], at + 1))
                self._stack.append(_Block(indent, "helper", at, case=self._cases[-1]))
            else:
                self._line(at, indent, text)
        return self._settled()

    def _within(self) -> str:
        return self._lines[self._stack[-1].at].strip()[:LINE] if self._stack else ""

    def _collected(self) -> str:
        kinds = {block.kind for block in self._stack}
        if "never" in kinds or self._ended() == DEAD:
            return DEAD
        if self._language == "python" and kinds & {"test", "function", "helper"}:
            return DEAD  # a function in a function is no test
        return MAYBE if "maybe" in kinds or self._ended() == MAYBE else LIVE

    def _ended(self) -> str:
        """Whether something before the line that comes next has left one of the blocks around it."""
        worst = LIVE
        for depth, block in enumerate(self._stack, 1):
            # what stands deeper than the statement that leaves is a part of it
            inside = depth < len(self._stack) and self._stack[depth].at == block.ended_at
            if block.ended != LIVE and not inside:
                worst = DEAD if DEAD in (worst, block.ended) else MAYBE
        return worst

    def _close(self, indent: int, text: str) -> None:
        if self._handler and indent <= self._handler[0] and not HANDLER.match(text):
            self._handler = None
        while self._stack and indent <= self._stack[-1].indent:
            block = self._stack.pop()
            self._over[block.indent] = block
            leaves = block.ended != LIVE and block.kind in ("plain", "maybe", "else", "try")
            # a branch that asserts before it leaves is a case of its own
            if leaves and self._stack and not (block.kind != "plain" and block.asserts):
                self._end(block.at, DEAD if block.kind == "plain" else MAYBE)

    def _end(self, at: int, state: str) -> None:
        if self._stack and self._stack[-1].ended != DEAD:
            self._stack[-1].ended, self._stack[-1].ended_at = state, at

    def _line(self, at: int, indent: int, text: str) -> None:
        before = self._over.get(indent)
        if handler := HANDLER.match(text):
            caught = before is not None and (
                before.kind == "try" or (before.kind in ("test", "call") and "rescue" in text)
            )
            if before is not None and caught and catches_failures(handler[1]):
                self._swallows.add(before.at)
                self._handler = (indent, before)
            self._stack.append(_Block(indent, "handler", at))
            return
        if self._handler and (FAILS.search(text) or re.search(r"\b(?:reject|done|next|cb|callback)\(\w+\)", text)):
            self._swallows.discard(self._handler[1].at)
        if OTHERWISE.match(text) and before is not None and before.kind == "maybe":
            before.otherwise = True
        asserts = bool(ASSERTION.search(text)) and not text.startswith(("import ", "from ", "use ", "#include"))
        if asserts and self._cases:
            core, state = core_of(text)
            self._note(core, state)
        elif ENDS.match(text):
            self._end(at, DEAD)
        elif ONE_LINE_END.match(text):
            self._end(at, MAYBE)
        kind = "never" if NEVER.match(text) or SUPPRESS.search(text) else kind_of(text)
        named = FUNCTION.match(text)
        name = next((group for group in named.groups() if group), "") if named else ""
        self._stack.append(_Block(indent, kind, at, name))

    def _note(self, text: str, state: str) -> None:
        if self._ended() == DEAD or any(block.kind == "never" for block in self._stack):
            state = DEAD
        elif self._ended() == MAYBE and state == LIVE:
            state = MAYBE
        for block in self._stack:
            block.asserts = True
        fails = bool(FAILS.search(text))
        around = [block.case for block in self._stack if block.case is not None and block.kind != "group"]
        for case in around or self._cases[-1:]:
            self._asserts.append(_Assertion(case, " ".join(text.split()), state, tuple(self._stack), fails))

    def _settled(self) -> list[Case]:
        for each in self._asserts:
            state = each.state
            maybe = sum(block.kind == "maybe" and not block.otherwise for block in each.blocks)
            unused = any(
                block.name and block.kind == "function" and block.name not in self._used for block in each.blocks
            )
            if unused or any(block.at in self._swallows for block in each.blocks):
                state = DEAD
            elif state == LIVE and maybe > each.fails:  # `if got != want` is what `t.Errorf` asserts
                state = MAYBE
            each.case.asserts.append((each.text, state))
        return self._cases
