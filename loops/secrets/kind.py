"""What a kind of secret is: its shape, how much the shape says, and a made-up sample.

Patterns are written for RE2, an engine of linear time: no look-around, no back-references. A pattern's
first group, where it has one, is the secret itself; else all of it is. Lengths are lower bounds, so that a token that
became longer is found whole.
"""

import hashlib
import re
from dataclasses import dataclass
from enum import Enum


class Strength(Enum):
    """How much the shape alone says."""

    CERTAIN = "certain"
    """Nothing else looks like it: it is published nowhere."""
    LIKELY = "likely"
    """Tests and documents hold made-up ones all the time, and may."""
    NAMED = "named"
    """Only the words beside it say so: it counts where it looks random as well."""


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of secret.

    `samples` are made up; `{w36}` stands for 36 letters and digits, see `example`. `bounded`: where a letter or digit
    comes right before the match, it is a piece of something longer. `until`: the secret goes on to the end of the line
    that holds this text, or to the end of all.
    """

    name: str
    pattern: str
    samples: tuple[str, ...]
    strength: Strength = Strength.CERTAIN
    bounded: bool = False
    until: str = ""


_ALPHABETS = {
    "b": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/",
    "d": "0123456789",
    "h": "0123456789abcdef",
    "l": "abcdefghijklmnopqrstuvwxyz0123456789",
    "u": "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "w": "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789",
}
_FIELD = re.compile(r"\{([bdhluw])(\d+)\}")


def example(sample: str) -> str:
    """A made-up secret from a sample, the same each time. Kept apart, so that no scanner takes this file for a leak.

    `{b9}` stands for nine characters of base64, d for decimal digits, h for hex, l for lower case and digits, u for
    upper case and digits, w for letters and digits.
    """

    def filled(field: re.Match[str]) -> str:
        alphabet, count = _ALPHABETS[field[1]], int(field[2])
        noise = hashlib.shake_256(f"{sample}@{field.start()}".encode()).digest(count)
        return "".join(alphabet[byte % len(alphabet)] for byte in noise)

    return _FIELD.sub(filled, sample)


def kind(name: str, pattern: str, *samples: str, word: bool = False, until: str = "") -> Kind:
    return Kind(name, pattern, samples, bounded=word, until=until)


def likely(name: str, pattern: str, *samples: str, word: bool = True) -> Kind:
    return Kind(name, pattern, samples, Strength.LIKELY, bounded=word)


def named(name: str, words: str, value: str, *samples: str) -> Kind:
    """A value without a shape of its own: assigned, in any language or format, to a name with these words in it."""
    pattern = (
        rf"(?i)(?:{words})[a-z0-9_.-]{{0,40}}[\"'\])]{{0,2}}\s{{0,4}}(?:=>|:=|={{1,3}}|:|,|\()\s{{0,4}}[\"'`]?({value})"
    )
    return Kind(name, pattern, samples, Strength.NAMED)


UUID = "[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}"
