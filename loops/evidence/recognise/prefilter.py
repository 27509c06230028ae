"""Which of hundreds of expressions a line can match at all.

To try them all costs tens of microseconds a line. One Hyperscan scan finds, for all lines, the texts that each
expression cannot match without; what is left and may begin as the line does is tried.
"""

from collections.abc import Sequence

from loops.evidence.recognise.required import Required
from loops.patterns.scanner import Patterns

ID = 16  # bits of a text's number
MOST = (1 << ID) - 1


class Prefilter:
    """Expressions that are matched at a line's start, and `words`: expressions for anywhere in it, in any case.

    What each requires is given. A set of them is an int: bit `i` is `patterns[i]`, the bit behind the last one, `said`,
    is any of the words.
    """

    def __init__(self, patterns: Sequence[Required], words: Sequence[Required] = ()) -> None:
        self._required = patterns
        self.said = 1 << len(patterns)
        bits: dict[str, int] = {}
        self._always = 0
        for i, each in enumerate(self._required):
            if not each.texts:
                self._always |= 1 << i
            for text in sorted(each.texts):  # always in one order: the compiled database is kept
                bits[text] = bits.get(text, 0) | 1 << i
        spoken = [word.texts for word in words]
        self._always |= 0 if all(spoken) else self.said
        caseless = sorted({text.lower() for texts in spoken for text in texts})
        self._bits = (*(self.said for _ in caseless), *bits.values())
        self._patterns = Patterns(tuple(caseless), exact=tuple(bits), literal=True)
        self._beginning: dict[str, int] = {}

    def candidates(self, lines: Sequence[str]) -> list[int]:
        """For each line what it may match, whatever it begins with."""
        raw = [line.encode(errors="replace") for line in lines]
        hits: list[int] = []
        add = hits.append
        self._patterns.scan(b"\n".join(raw), lambda id_, _from, to, _flags, _context: add(to << ID | id_))
        hits.sort()
        answer = [self._always] * len(raw)
        bits = self._bits
        line, end = 0, len(raw[0]) if raw else 0
        for hit in hits:
            to = hit >> ID
            while end < to:
                line += 1
                end += 1 + len(raw[line])
            answer[line] |= bits[hit & MOST]
        return answer

    def beginning(self, letter: str) -> int:
        """What may match a text that begins with this letter."""
        known = self._beginning.get(letter)
        if known is None:
            known = self._beginning[letter] = sum(
                1 << i
                for i, each in enumerate(self._required)
                if each.first is None or letter in each.first or not letter.isascii()
            )
        return known
