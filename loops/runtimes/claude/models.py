"""The names of models that Claude Code takes, and those it asks for then. As observed with 2.1."""

import re

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
