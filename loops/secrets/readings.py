"""Other ways to read a text: without colours, with what is left of an escape as a gap, and with escapes written out.

A secret may stand in any of them. Each reading knows where its characters stand in the text itself. All patterns here
are bounded, so that the time is linear in the text's length.
"""

import bisect
import re
from collections.abc import Iterator

from loops.secrets.recognise import compiled, one_byte_each

_ESC = (
    r"(?:\x1b|\x9b|\\{1,3}(?:u001[bB]|u\{1[bB]\}|x1[bB]|e|033|0?33)|\^\[|\u241b"
    r"|%(?:25)?1[bB]|=1B|&#(?:0?27|[xX]1[bB]);)"
)
_BRACKET = r"(?:\[|%(?:25)?5[bB]|=5B|&#(?:0?91|[xX]5[bB]);)"
_UNSEEN = re.compile(
    "[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\xad\u034f\u061c\u180e\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufe00-\ufe0f\ufeff"
    "\U000e0000-\U000e0fff]"
)
"""Characters that show nothing."""
_COLOUR = re.compile(
    rf"{_ESC}(?:{_BRACKET}[0-9;:?<=>]{{0,64}}[ -/]{{0,8}}[@-~]"
    r"|\][^\x07\x1b\\]{0,2048}(?:\x07|\x1b\\|\\u0007|\\x07|\\a|\\007|\\u001[bB]\\{1,2}|\\x1[bB]\\{1,2}|\\e\\{1,2}|\\033\\{1,2})"
    r"|[ -/]{1,2}[0-~]|[@-Z\\^_])"
    # a control character of its own begins a sequence without a bracket
    r"|\x9b[0-9;:?<=>]{0,64}[ -/]{0,8}[@-~]"
    # what is left where the ESC itself was taken out
    r"|\[[0-9]{0,3}(?:[;:][0-9]{0,3}){0,16}m"
    rf"|\x1b+(?![\[\]])[0-Z\\^-~]?|{_UNSEEN.pattern}+"
)
"""Terminal sequences, as bytes or written out, what is left of those for colours without their ESC, and what shows
nothing."""
_REST = re.compile(r"\A(?:[0-9;?]{0,16}[0-9;][A-Za-z]|[mKDbnrtAB0])")
"""What is left of a sequence that the text before this one ended in."""
_GAP = re.compile(
    rf"{_COLOUR.pattern}"
    r"|%(?:25){0,3}[0-9A-Fa-f]{2}|=[0-9A-F]{2}|\\x[0-9A-Fa-f]{2}|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8}|\\[0-7]{3}|\\[abefnrtv0]"
    r"|&(?:amp;){0,3}(?:#[0-9]{1,6}|#[xX][0-9A-Fa-f]{1,5}|[a-z]{2,6});"
    # other sequences without their ESC, and colours without the bracket as well
    r"|(?:\[(?:[0-9;:?]{1,24}[A-HJKSTfhlnsu]|[HJK])|\([B0]|(?<![A-Za-z0-9])[0-9]{1,3}(?:;[0-9]{1,3}){0,8}m)(?=[\w.-]{8}|[\w.-]{1,7}\Z)"
    rf"|{_REST.pattern}"
)
"""What ends with a letter or digit, but belongs to no word."""
_WRITTEN = re.compile(
    r"%(?:25){0,3}(?P<percent>[2-7][0-9A-Fa-f])|\\{1,4}x(?P<hex>[2-7][0-9A-Fa-f])"
    r"|\\{1,4}(?:u00|u\{0{0,4}|U0{6})(?P<four>[2-7][0-9A-Fa-f])\}?|\\{1,4}(?P<octal>[01][0-7]{2})"
    r"|&(?:amp;){0,3}#0{0,4}(?P<decimal>[0-9]{2,3});|&(?:amp;){0,3}#[xX]0{0,4}(?P<entity>[2-7][0-9A-Fa-f]);"
    r"|=(?P<quoted>[2-7][0-9A-F])|\\{1,4}(?P<plain>[/\"'])|&(?:amp;){0,3}(?P<name>amp|lt|gt|quot|apos);"
)
_ANY = compiled(
    r"[\x00-\x08\x0e-\x1f\x7f\x9b\xad\\]|\^\[|\[[0-9;:]{0,40}m|%[0-9A-Fa-f]{2}|=[0-9A-F]{2}|&[#a-z]"
    r"|(?:\[[0-9;:?]{1,24}[A-HJKSTfhlnsu]|\[[HJK]|\([B0]|[0-9]m)(?:[0-9A-Za-z_.-]{8}|[0-9A-Za-z_.-]{1,7}\z)"
)
"""What each of these but `_REST` begins with; most texts have none of it."""
_NAMES = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_BASES = {"percent": 16, "hex": 16, "four": 16, "octal": 8, "decimal": 10, "entity": 16, "quoted": 16}


class Reading:
    """A text with some parts replaced; `span` tells where a part of it stands in the text that it was made from."""

    def __init__(self, text: str, replaced: Iterator[tuple[int, int, str]]) -> None:
        parts: list[str] = []
        self._places = [0]  # where a piece begins in the reading …
        self._origins = [(0, False)]  # … and in the text, and whether it is a replacement
        at = length = 0
        for start, end, instead in replaced:
            parts += (text[at:start], instead)
            length += start - at
            if instead:
                self._begin(length, start, replaced=True)
                length += len(instead)
            self._begin(length, end, replaced=False)
            at = end
        parts.append(text[at:])
        self.text = "".join(parts)

    def _begin(self, place: int, origin: int, *, replaced: bool) -> None:
        if self._places[-1] == place:
            self._places.pop()
            self._origins.pop()
        self._places.append(place)
        self._origins.append((origin, replaced))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where `start` to `end` (not empty) of the reading stands in the text."""
        first, last = self._piece(start), self._piece(end - 1)
        origin, replaced = self._origins[first]
        begin = origin if replaced else origin + start - self._places[first]
        origin, replaced = self._origins[last]
        if replaced:
            return begin, self._origins[last + 1][0]
        return begin, origin + end - self._places[last]

    def _piece(self, place: int) -> int:
        return bisect.bisect_right(self._places, place) - 1


def readings(text: str) -> Iterator[Reading]:
    """Each other way to read `text`; mostly there is none."""
    if not _has_any(text):
        yield from _without_rest(text, " ")
        return
    for pattern, instead in ((_COLOUR, _nothing), (_GAP, _space), (_WRITTEN, _character)):
        replaced = [(found.start(), found.end(), instead(found)) for found in pattern.finditer(text)]
        if replaced:
            yield Reading(text, iter(replaced))


def joined(text: str) -> Iterator[Reading]:
    """`text` without its gaps: a value that is looked for may have some of them inside."""
    if not _has_any(text):
        yield from _without_rest(text, "")
        return
    replaced = [(found.start(), found.end(), "") for found in _GAP.finditer(text)]
    if replaced:
        yield Reading(text, iter(replaced))


def _has_any(text: str) -> bool:
    return bool(_ANY.search(one_byte_each(text))) or (not text.isascii() and bool(_UNSEEN.search(text)))


def _without_rest(text: str, instead: str) -> Iterator[Reading]:
    """The reading of a text whose first letter alone may be a gap: many begin so, and the rest need not be searched."""
    if rest := _REST.match(text):
        yield Reading(text, iter([(0, rest.end(), instead)]))


def _nothing(_: re.Match[str]) -> str:
    return ""


def _space(_: re.Match[str]) -> str:
    return " "


def _character(found: re.Match[str]) -> str:
    name = found.lastgroup or ""
    value = found[name]
    return chr(int(value, _BASES[name])) if name in _BASES else _NAMES.get(value, value)


def escapes(text: str) -> Iterator[tuple[int, int]]:
    """Where terminal sequences stand: nothing may be cut inside of one."""
    if "\x1b" in text or "\\" in text or "\x9b" in text:
        for found in _COLOUR.finditer(text):
            yield found.span()


_LAST = re.compile(
    rf"(?:{_ESC}?{_BRACKET}[0-9;:?<=>]{{0,64}}[ -/]{{0,8}}[@-~]?|{_ESC}\][^\x07\x1b\\]{{0,80}}(?:\x07|\x1b?\\?)"
    rf"|\x9b[0-9;:?<=>]{{0,64}}[ -/]{{0,8}}[@-~]?|\^|{_ESC}[ -/]{{0,2}}[0-~]?|\([B0]?"
    r"|&(?:amp;){0,3}#?[0-9A-Za-z]{0,8};?|%(?:25){0,3}[0-9A-Fa-f]{0,2}|=[0-9A-F]{0,2}|\\{1,4}(?:u\{?|[Uxe])?[0-9A-Fa-f]{0,8}\}?"
    r"|[0-9]{1,3}(?:;[0-9]{0,3}){1,8}m?)\Z"
)
"""A gap at the end, or the beginning of one."""
_LAST_SIZE, _MOST_LAST = 96, 16


def open_gaps(text: str) -> int:
    """How many characters at the end of `text` are gaps and the beginning of one: what is before may go on after it."""
    end = len(text)
    for _ in range(_MOST_LAST):
        found = _LAST.search(text, max(0, end - _LAST_SIZE), end)
        if found is None:
            break
        end = found.start()
    return len(text) - end
