"""The first pass: megabytes of raw log in, the few windows worth reading out, at the speed of memory.

Hyperscan finds every word of `words`; only around its hits are lines cut at all. What is kept is bounded:
a novel line is kept before its hundredth like, strong words before plain ones, the end of the log before its middle.
"""

from collections import deque
from collections.abc import Iterable, Iterator
from functools import cache

from loops.evidence.passing.news import News
from loops.evidence.passing.twin import Twin
from loops.evidence.text import words
from loops.evidence.text.blocks import CUT, blocks
from loops.evidence.text.edges import Edges
from loops.patterns.scanner import Found, Patterns

FREE = 500_000  # bytes of windows kept without asking whether they are new
NOVEL = 700_000  # beyond FREE and up to here: only a line's first two likes, and strong words
FULL = 850_000  # beyond NOVEL and up to here: only new lines with a strong word
WINDOW = 48_000  # bytes of one window at most, about
RING = 150_000  # the newest windows beyond those, always
SHAPES = 20_000  # different lines counted
LINE = 8 * 1024  # of one kept line
SHORT = 40  # bytes that a line counts for at least: what is kept is bounded in lines too
DIGITS = b"0123456789abcdefABCDEF"

PLAIN, STRONG, MARK, NEW = 0, 1, 2, 3
# bytes of context before and after a hit: a page, a long test failure, a step's head
BEFORE = (1_500, 6_000, 0, 200)
AFTER = (4_000, 8_000, 1_500, 400)
TAIL = 24_000  # before the runner's mark of a failed step


@cache
def _patterns() -> tuple[tuple[Patterns, bytes], ...]:
    """Each with the strengths of its patterns. Plain texts have their own: together with expressions they are slow."""
    return (
        _compiled((words.PLAIN, words.STRONG, words.MARK), literal=True),
        _compiled((words.PLAIN_FORMS, words.STRONG_FORMS, ()), literal=False),
    )


def _compiled(groups: tuple[tuple[str, ...], ...], *, literal: bool) -> tuple[Patterns, bytes]:
    patterns = Patterns([text for group in groups for text in group], literal=literal)
    return patterns, bytes(strength for strength, group in enumerate(groups) for _ in group)


class Scan:
    """The kept windows of one log: `(number of the first line, bytes of whole lines)`, by line number."""

    def __init__(self, chunks: Iterable[bytes], twin: Twin | None = None) -> None:
        self.news = News(twin) if twin else None
        self.total_lines = 0
        self.total_bytes = 0
        self._seen: dict[int, int] = {}
        self._kept: list[tuple[int, bytes]] = []
        self._size = 0
        self._ring: deque[tuple[int, bytes]] = deque()
        self._ring_size = 0
        self.edges = Edges()
        carry = b""
        owed = 0
        for block in blocks(self._counted(chunks)):
            text = carry + block
            owed = self._block(text, block, owed)
            self.edges.add(self.total_lines + 1, block)
            self.total_lines += block.count(b"\n")
            carry = _tail(text, TAIL)
        if not self._ring or self._ring[-1][0] != self.total_lines:
            tail = _tail(carry, BEFORE[STRONG])
            self._ring.append((self.total_lines - tail.count(b"\n") + 1, _short(tail)))

    def windows(self) -> list[tuple[int, bytes]]:
        return sorted([*self._kept, *self._ring])

    def _counted(self, chunks: Iterable[bytes]) -> Iterator[bytes]:
        for chunk in chunks:
            self.total_bytes += len(chunk)
            yield chunk

    def _block(self, text: bytes, block: bytes, owed: int) -> int:
        """Keep the windows of `block`, with which `text` ends. Answer the bytes still owed to the last window."""
        shift = len(text) - len(block)
        number, at = self.total_lines - text.count(b"\n", 0, shift) + 1, 0
        start, stop, strength = (shift, shift + owed, PLAIN) if owed else (0, 0, PLAIN)
        line_start, line_end, strength_of_line, seen = 0, -1, PLAIN, 0
        counts, room = self._seen, self._room
        for hit in self._hits(block):
            here, strength_of_hit = (hit >> 2) + shift - 1, hit & 3
            if here >= line_end:
                line_start = text.rfind(b"\n", 0, here) + 1
                line_end = text.find(b"\n", here)
                # the runner's time is all digits but for what is in each
                like = hash(text[line_start:line_end].translate(None, DIGITS))
                seen = counts.get(like, 0)
                if seen or len(counts) < SHAPES:
                    counts[like] = seen + 1
            elif strength_of_hit <= strength_of_line:
                continue
            strength_of_line = strength_of_hit
            if self._size >= FREE and not room(seen, strength_of_hit):
                continue
            before = BEFORE[strength_of_hit]
            if strength_of_hit == MARK and b"##[error]" in text[line_start:line_end]:
                before = TAIL
            first = max(line_start - before, 0)
            if stop and (first > stop or stop - start > WINDOW):
                number, at = self._keep(text, start, stop, number, at, strength)
                start, strength = max(first, at), strength_of_hit
            else:
                start = max(min(first, start) if stop else first, at)
            stop = max(stop, line_end + AFTER[strength_of_hit])
            strength = max(strength, strength_of_hit)
        if stop:
            self._keep(text, start, min(stop, len(text)), number, at, strength)
        return max(0, stop - len(text))

    def _hits(self, block: bytes) -> list[int]:
        """Where each word of `block` ends, and each line that is new, shifted left by two bits for its strength; in
        order."""
        hits: list[int] = []
        for patterns, strengths in _patterns():
            patterns.scan(block, _into(hits, strengths))
        if self.news is not None:
            hits += [end << 2 | NEW for end in self.news.of(block)]
        hits.sort()
        return hits

    def _room(self, seen: int, strength: int) -> bool:
        """Beyond what is free: whether a line that had so many likes before may still be kept."""
        if strength == MARK:
            return True
        if self._size < NOVEL:
            return seen < 2 or (strength == STRONG and seen < 20)
        # beyond this, the window goes to the ring, where newer ones push it out
        return seen < 1 or strength == STRONG

    def _keep(self, text: bytes, start: int, stop: int, number: int, at: int, strength: int) -> tuple[int, int]:
        """Store the whole lines of `text[start:stop]`; answer the number and offset of the line after them."""
        start = text.find(b"\n", start - 1) + 1 if start > at else at
        stop = text.find(b"\n", min(stop, len(text) - 1)) + 1
        number += text.count(b"\n", at, start)
        piece = text[start:stop]
        after = number + piece.count(b"\n")
        piece = _short(piece)
        if self._size < (FULL if strength else NOVEL):
            self._kept.append((number, piece))
            self._size += max(len(piece), SHORT * (after - number))
        else:
            self._ring.append((number, piece))
            self._ring_size += max(len(piece), SHORT * (after - number))
            while self._ring_size > RING:
                _, oldest = self._ring.popleft()
                self._ring_size -= max(len(oldest), SHORT * oldest.count(b"\n"))
        return after, stop


def _into(hits: list[int], strengths: bytes) -> Found:
    add = hits.append
    return lambda id_, _from, to, _flags, _context: add(to << 2 | strengths[id_])


def _short(piece: bytes) -> bytes:
    """The lines of a piece, the long ones without their middle."""
    if len(piece) <= LINE:
        return piece
    lines = piece.split(b"\n")
    if max(map(len, lines)) <= LINE:
        return piece
    return b"\n".join(line if len(line) <= LINE else line[: LINE // 2] + CUT + line[-LINE // 2 :] for line in lines)


def _tail(text: bytes, size: int) -> bytes:
    """The whole lines in the last `size` bytes; the last line at least."""
    if len(text) <= size:
        return text
    start = text.find(b"\n", len(text) - size - 1) + 1
    return text[start:] or text[text.rfind(b"\n", 0, len(text) - 1) + 1 :]
