"""Kept windows of raw bytes in, numbered lines of plain text out."""

import re
from collections.abc import Iterable
from dataclasses import dataclass

from loops.evidence.text.blocks import CUT

# the runner's time before each line, found by the newline before it: `re` skips to that at once
TIME = rb"(?:\xef\xbb\xbf)?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ?"
STAMP = re.compile(rb"\n" + TIME)
# `gh run view --log` puts the job and the step before it
NAMED_STAMP = re.compile(rb"\n(?:\xef\xbb\xbf)?(?:([^\t\n]{1,200})\t([^\t\n]{0,200})\t)?" + TIME)
# CSI and OSC sequences, other escapes of two bytes, and the caret spelling that some runners print
ANSI = re.compile(
    rb"\x1b\[[0-9;:?<=>]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)|\x1b[@-Z\\-_=>()][0-9A-B]?|\^\[\[[0-9;]*[mK]"
)
CONTROL = re.compile("[\x00-\x08\x0b-\x1f\x7f\x80-\x9f\u2028\u2029\ufeff]")
WIDE = 2_000  # characters of one line that are looked at
MIDDLE = CUT.decode()
# half a word beside a cut is no word: it may be half a secret, which no redaction would know
SEVERED = re.compile(rf"[\w+/=.%~-]{{0,600}}{re.escape(MIDDLE)}[\w+/=.%~-]{{0,600}}")


@dataclass
class Lines:
    """Parallel lists: the number of each kept line in the full log, its text, and the step that gh wrote before it."""

    numbers: list[int]
    texts: list[str]
    steps: list[str]

    def with_more(self, more: "Lines") -> "Lines":
        """These and, at their places, those of `more` that are not among them."""
        known = set(self.numbers)
        new = [i for i, number in enumerate(more.numbers) if number not in known]
        if not new:
            return self
        both = Lines(self.numbers + more.numbers, self.texts + more.texts, self.steps + more.steps)
        at = len(self.numbers)
        return both.only(sorted([*range(at), *(at + i for i in new)], key=both.numbers.__getitem__))

    def only(self, indexes: Iterable[int]) -> "Lines":
        """Those at some indexes, in their order."""
        picked = list(indexes)
        return Lines(
            [self.numbers[i] for i in picked], [self.texts[i] for i in picked], [self.steps[i] for i in picked]
        )

    def gap_before(self, i: int) -> bool:
        return i == 0 or self.numbers[i] != self.numbers[i - 1] + 1


def lines(windows: Iterable[tuple[int, bytes]]) -> Lines:
    """Strip times, colours, control characters and overwritten progress; join windows that overlap."""
    numbers: list[int] = []
    texts: list[str] = []
    steps: list[str] = []
    last = 0
    for first, raw in windows:
        raw = b"\n" + raw
        names = []
        if b"\t20" in raw[:1_000]:
            names = [
                m[2].decode(errors="replace") if (m := NAMED_STAMP.match(b"\n" + line)) and m[2] else ""
                for line in raw[1:].split(b"\n")
            ]
        # never \s there: the stamp must not eat the newline of an empty line
        raw = (NAMED_STAMP if names else STAMP).sub(b"\n", raw)
        if b"\x1b" in raw or b"^[[" in raw:
            raw = ANSI.sub(b"", raw)
        text = raw[1:].decode(errors="replace")
        split = text.removesuffix("\n").split("\n")
        known = max(last + 1 - first, 0)
        split = split[known:]
        if CONTROL.search(text):
            split = [CONTROL.sub("", _overwritten(line) if "\r" in line else line) for line in split]
        clean = [line.rstrip() for line in split]
        if max(map(len, clean), default=0) > WIDE:
            clean = [line if len(line) <= WIDE else _narrow(line) for line in clean]
        last = max(last, first + known + len(clean) - 1)
        numbers += range(first + known, first + known + len(clean))
        texts += clean
        steps += names[known : known + len(clean)] if names else [""] * len(clean)
    return Lines(numbers, texts, steps)


def _narrow(line: str) -> str:
    """The beginning and the end of a long line, in whole words."""
    if MIDDLE not in line:
        return SEVERED.sub(MIDDLE, f"{line[: WIDE * 3 // 4]}{MIDDLE}{line[-WIDE // 4 :]}")
    head, _, tail = SEVERED.sub(MIDDLE, line).partition(MIDDLE)
    return SEVERED.sub(MIDDLE, f"{head[: WIDE * 3 // 4]}{MIDDLE}{tail[-WIDE // 4 :]}")


def _overwritten(line: str) -> str:
    """What a terminal would show of a line with carriage returns: its last writing."""
    parts = [part for part in line.split("\r") if part.strip()]
    if not parts:
        return ""
    said = [part for part in parts[:-1] if re.search(r"error|fail|fatal", part, re.I)]
    return " ".join([*said[-2:], parts[-1]])
