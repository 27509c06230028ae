"""The names of models that Claude Code takes, and those it asks for then. As observed with 2.1."""

import re
from typing import Final

from loops.runtimes.spec import Price

PRICES: Final = {
    "claude-opus-4": Price(15, 1.5, 75),
    "claude-opus-4-5": Price(5, 0.5, 25),
    "claude-sonnet-4": Price(3, 0.3, 15),
    "claude-sonnet-5": Price(2, 0.2, 10),
    "claude-haiku-4-5": Price(1, 0.1, 5),
}
"""List prices; of a family the newest last."""
_CHEAPEST: Final = "claude-haiku-4-5"
_ALIAS = re.compile(r"[a-z]+")
_SUFFIX = re.compile(r"\[\w+\]$")
"""`claude-sonnet-5[1m]` is a model with a beta."""


def is_alias(model: str) -> bool:
    """Whether it is `sonnet`, `opus` and so on, which stand for the newest model of a family."""
    return _ALIAS.fullmatch(_SUFFIX.sub("", model)) is not None


def may_ask(given: str, asked: str) -> bool:
    """Whether a turn on the model `given` may ask for `asked`: the same, or one of the family that an alias names."""
    plain = _SUFFIX.sub("", given)
    if plain == asked:
        return True
    return is_alias(given) and re.fullmatch(rf"claude-(?:\d+-)*{plain}(?:-\d+)*", asked) is not None


def asks_for(given: str) -> str:
    """The API's name of the model `given`: of an alias the newest that we know; where none is given, the cheapest."""
    plain = _SUFFIX.sub("", given)
    if not plain:
        return _CHEAPEST
    if not is_alias(given):
        return plain
    return next((model for model in reversed(PRICES) if may_ask(given, model)), "")
