"""Expressions of workflow files: `${{ … }}` and `if:`.

The language is small: literals, contexts (`github.ref`, `matrix['os']`, `steps.*.outcome`), operators and a few
functions. Semantics as in GitHub's reference "Evaluate expressions in workflows and actions".
"""

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

_TOKEN = re.compile(
    r"""\s*(?:
      (?P<number>-?0x[0-9a-fA-F]+|-?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?)
    | (?P<string>'(?:[^']|'')*')
    | (?P<name>[A-Za-z_][A-Za-z0-9_-]*)
    | (?P<op>&&|\|\||==|!=|<=|>=|[!<>()\[\].,*])
    )""",
    re.VERBOSE,
)
_INLINE = re.compile(r"\$\{\{((?:[^'}]|'(?:[^']|'')*'|\}(?!\}))*)\}\}")

Function = Callable[..., Any]


class BadExpression(ValueError):
    """The text is no expression, or names a function that is not known."""


class NotKnown(BadExpression):
    """What the text says depends on something that is known only while the job runs."""


class Unknown:
    """A value that is known only while the job runs. In a text it stays the expression that it is, `${{ name }}`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def below(self, key: str) -> "Unknown":
        """A part of it."""
        return Unknown(f"{self.name}.{key}")

    def refuse(self) -> NotKnown:
        """What to raise where the value itself is needed."""
        return NotKnown(f"{self.name} is known only while the job runs")


class PartlyKnown(str):
    """A text in which an `Unknown` stands."""


class Open:
    """A context with more names than are listed beforehand; `ask` has the value of each."""

    def __init__(self, ask: Callable[[str], Any], listed: Mapping[str, Any] | None = None) -> None:
        self.ask, self.listed = ask, listed


class Scope:
    """What names mean: contexts by name, and functions beside the built-in ones."""

    def __init__(self, contexts: Mapping[str, Any], functions: Mapping[str, Function] | None = None) -> None:
        self.contexts = {key.lower(): value for key, value in contexts.items()}
        self.functions = {name.lower(): act for name, act in (BUILT_IN | dict(functions or {})).items()}

    def evaluate(self, text: str) -> Any:
        """The value of an expression. Raises `BadExpression`."""
        return _Parser(text, self).parse()

    def substitute(self, text: str) -> str:
        """The text with every `${{ … }}` replaced."""
        values = [self.evaluate(found[1]) for found in _INLINE.finditer(text)]
        parts = iter(values)
        whole = _INLINE.sub(lambda _: as_text(next(parts)), text)
        return PartlyKnown(whole) if any(isinstance(each, Unknown | PartlyKnown) for each in values) else whole

    def value(self, raw: Any) -> Any:
        """A value of a workflow file with its expressions evaluated; a lone `${{ … }}` keeps its type."""
        if isinstance(raw, str):
            whole = _INLINE.fullmatch(raw.strip())
            return self.evaluate(whole[1]) if whole else self.substitute(raw)
        if isinstance(raw, dict):
            return {key: self.value(item) for key, item in raw.items()}
        if isinstance(raw, list):
            return [self.value(item) for item in raw]
        return raw

    def condition(self, raw: Any) -> bool:
        """An `if:`; without a status function it also wants success so far."""
        text = str(raw).strip() if not isinstance(raw, bool) else ("true" if raw else "false")
        whole = _INLINE.fullmatch(text)
        text = whole[1] if whole else _INLINE.sub(lambda found: f"({found[1]})", text)
        if not re.search(r"\b(success|failure|always|cancelled)\s*\(", text):
            text = f"success() && ({text})"
        return truth(self.evaluate(text))


def truth(value: Any) -> bool:
    if isinstance(value, Unknown):
        raise value.refuse()
    return value not in (None, False, 0, "") and not (isinstance(value, float) and math.isnan(value))


def as_text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    if isinstance(value, Unknown):
        return f"${{{{ {value.name} }}}}"
    return json.dumps(value, indent=2) if isinstance(value, dict | list) else str(value)


def _number(value: Any) -> float:
    if value is None or value == "":
        return 0.0
    if isinstance(value, bool | int | float):
        return float(value)
    if isinstance(value, Unknown):
        raise value.refuse()
    try:
        return float(int(value, 16)) if str(value).startswith("0x") else float(value)
    except (TypeError, ValueError):
        return math.nan


def _equal(one: Any, other: Any) -> bool:
    """Strings compare without case; different types as numbers."""
    for side in (one, other):
        if isinstance(side, Unknown | PartlyKnown):
            raise NotKnown(f"{as_text(side)} is known only while the job runs")
    if isinstance(one, str) and isinstance(other, str):
        return one.lower() == other.lower()
    if isinstance(one, dict | list) or isinstance(other, dict | list):
        return one is other
    if one is None and other is None:
        return True
    return _number(one) == _number(other)


def _contains(where: Any, what: Any) -> bool:
    if isinstance(where, list):
        return any(_equal(item, what) for item in where)
    if isinstance(where, Unknown) or isinstance(what, Unknown):
        raise NotKnown(f"contains({as_text(where)}, {as_text(what)}) is known only while the job runs")
    return as_text(what).lower() in as_text(where).lower()


def _format(text: str, *values: Any) -> str:
    def one(found: re.Match[str]) -> str:
        if found[0] in ("{{", "}}"):
            return found[0][0]
        index = int(found[1])
        if index >= len(values):
            raise BadExpression(f"format string has no argument {index}: {text}")
        return as_text(values[index])

    return re.sub(r"\{\{|\}\}|\{(\d+)\}", one, text)


def _from_json(text: Any) -> Any:
    if isinstance(text, Unknown):
        raise text.refuse()
    try:
        return json.loads(as_text(text))
    except ValueError as error:
        raise BadExpression(f"fromJSON: {error}") from error


def _to_json(value: Any) -> str:
    def unknown(part: Any) -> Any:
        if isinstance(part, Open) and part.listed is not None:
            return dict(part.listed)
        raise NotKnown("toJSON of what is known only while the job runs")

    return json.dumps(value, indent=2, default=unknown)


BUILT_IN: dict[str, Function] = {
    "contains": _contains,
    "startsWith": lambda text, part: as_text(text).lower().startswith(as_text(part).lower()),
    "endsWith": lambda text, part: as_text(text).lower().endswith(as_text(part).lower()),
    "format": _format,
    "join": lambda rows, by=",": by.join(map(as_text, rows)) if isinstance(rows, list) else as_text(rows),
    "toJSON": _to_json,
    "fromJSON": _from_json,
}


def lookup(value: Any, key: Any) -> Any:
    """A property, by name without case or by index; None where there is nothing."""
    if isinstance(value, Unknown):
        return value.below(as_text(key))
    if isinstance(value, Open):
        return value.ask(as_text(key))
    if isinstance(value, _Spread):
        return _Spread([lookup(item, key) for item in value])
    if isinstance(value, list):
        index = int(_number(key)) if not math.isnan(_number(key)) else -1
        return value[index] if 0 <= index < len(value) else None
    if isinstance(value, Mapping):
        wanted = as_text(key).lower()
        return next((item for name, item in value.items() if str(name).lower() == wanted), None)
    return None


class _Spread(list[Any]):
    """What `.*` gives: later names apply to every item."""


class _Parser:
    """Recursive descent, evaluating as it goes; both sides of `&&` and `||` are always parsed."""

    def __init__(self, text: str, scope: Scope) -> None:
        self._scope, self._text = scope, text
        self._tokens: list[tuple[str, str]] = []
        at = 0
        while at < len(text.rstrip()):
            found = _TOKEN.match(text, at)
            if found is None or found.lastgroup is None:
                raise BadExpression(f"Unexpected symbol: {text[at:].strip()!r} in expression {text.strip()!r}")
            self._tokens.append((found.lastgroup, found[found.lastgroup]))
            at = found.end()
        self._at = 0

    def parse(self) -> Any:
        value = self._or()
        if self._at != len(self._tokens):
            raise BadExpression(f"Unexpected {self._tokens[self._at][1]!r} in expression {self._text.strip()!r}")
        return list(value) if isinstance(value, _Spread) else value

    def _peek(self) -> tuple[str, str]:
        return self._tokens[self._at] if self._at < len(self._tokens) else ("end", "")

    def _take(self, wanted: str | None = None) -> tuple[str, str]:
        token = self._peek()
        if token[0] == "end" or (wanted is not None and token[1] != wanted):
            raise BadExpression(f"Expected {wanted or 'a value'} in expression {self._text.strip()!r}")
        self._at += 1
        return token

    def _or(self) -> Any:
        value = self._and()
        while self._peek() == ("op", "||"):
            self._take()
            other = self._and()
            value = value if truth(value) else other
        return value

    def _and(self) -> Any:
        value = self._comparison()
        while self._peek() == ("op", "&&"):
            self._take()
            other = self._comparison()
            value = other if truth(value) else value
        return value

    def _comparison(self) -> Any:
        value = self._unary()
        while self._peek()[0] == "op" and self._peek()[1] in ("==", "!=", "<", "<=", ">", ">="):
            sign = self._take()[1]
            other = self._unary()
            if sign in ("==", "!="):
                value = _equal(value, other) is (sign == "==")
                continue
            one, two = _number(value), _number(other)
            value = {"<": one < two, "<=": one <= two, ">": one > two, ">=": one >= two}[sign]
        return value

    def _unary(self) -> Any:
        if self._peek() == ("op", "!"):
            self._take()
            return not truth(self._unary())
        return self._postfix(self._primary())

    def _primary(self) -> Any:
        kind, text = self._take()
        if kind == "number":
            return int(text, 16) if "0x" in text else float(text)
        if kind == "string":
            return text[1:-1].replace("''", "'")
        if text == "(":
            value = self._or()
            self._take(")")
            return value
        if kind != "name":
            raise BadExpression(f"Unexpected symbol: {text!r} in expression {self._text.strip()!r}")
        if self._peek() == ("op", "("):
            return self._call(text)
        if text in ("true", "false", "null"):
            return {"true": True, "false": False, "null": None}[text]
        if text.lower() not in self._scope.contexts:
            raise BadExpression(f"Unrecognized named-value: '{text}' in expression {self._text.strip()!r}")
        return self._scope.contexts[text.lower()]

    def _call(self, name: str) -> Any:
        self._take("(")
        values = []
        while self._peek() != ("op", ")"):
            values.append(self._or())
            if self._peek() == ("op", ","):
                self._take()
        self._take(")")
        act = self._scope.functions.get(name.lower())
        if act is None:
            raise BadExpression(f"Unrecognized function: '{name}' in expression {self._text.strip()!r}")
        try:
            return act(*values)
        except TypeError as error:
            raise BadExpression(f"{name} cannot take these {len(values)} values: {self._text.strip()!r}") from error

    def _postfix(self, value: Any) -> Any:
        while self._peek() in (("op", "."), ("op", "[")):
            if self._take()[1] == "[":
                key: Any = self._or() if self._peek() != ("op", "*") else self._take()[1]
                self._take("]")
            else:
                key = self._take()[1]
            if key == "*" and isinstance(value, Unknown | Open):
                raise NotKnown("what `.*` finds is known only while the job runs")
            if key == "*":
                value = _Spread(value.values() if isinstance(value, Mapping) else value or [])
            else:
                value = lookup(value, key)
        return value
