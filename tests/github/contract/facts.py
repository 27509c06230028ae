"""Reads the stories of `facts/*.yaml`.

A story is `{story, callers?, begins?, exchanges}`, an exchange `{fact, ask, answer, body?, fields?, headers?, keep?,
send?, who?, settles?, local?}`: see `exchange`. `ask` is the method and the path. What is no plain value is written
with a tag: `!like REGEX`, `!has ITEM`, `!length N`, `!least N` or `!a TYPE`. `begins: {NAME: CONTENT}` is a branch
`<prefix>NAME` whose file `contract.txt` has that content, one commit ahead of the default branch; it keeps `NAME` (the
commit) and `NAME_tree`.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import yaml

from tests.github.contract.exchange import Absent, Exchange, Has, Json, Length, Like, Story

FOLDER = Path(__file__).parent / "facts"
TYPES: dict[str, type] = {"bool": bool, "int": int, "list": list, "map": dict, "nothing": Absent, "text": str}


class _Loader(yaml.SafeLoader):
    """YAML with the tags above. Times stay texts."""


def _tag(make: Callable[[Any], Any]) -> Callable[[yaml.SafeLoader, yaml.Node], Any]:
    def construct(loader: yaml.SafeLoader, node: yaml.Node) -> Any:
        if isinstance(node, yaml.ScalarNode):
            return make(loader.construct_scalar(node))
        return make(loader.construct_mapping(node, deep=True))  # type: ignore[arg-type]

    return construct


for name, make in {
    "like": Like,
    "has": Has,
    "length": lambda text: Length(int(text)),
    "least": lambda text: Length(int(text), least=True),
    "a": TYPES.__getitem__,
}.items():
    _Loader.add_constructor(f"!{name}", _tag(make))


def _exchange(row: Json) -> Exchange:
    method, _, path = row.pop("ask").partition(" ")
    return Exchange(row.pop("fact"), method, path, row.pop("answer"), **row)


def _filled_in(exchange: Exchange, name: str, content: str) -> Exchange:
    """An exchange of `branch.yaml` for one branch: `NAME` and `CONTENT` stand for its own."""

    def put(value: Any) -> Any:
        if isinstance(value, str):
            return value.replace("NAME", name).replace("CONTENT", content)
        if isinstance(value, Like):
            return Like(put(value.pattern))
        if isinstance(value, dict):
            return {put(key): put(each) for key, each in value.items()}
        return [put(each) for each in value] if isinstance(value, list) else value

    parts = {part: put(getattr(exchange, part)) for part in ("path", "body", "fields", "headers", "keep")}
    return replace(exchange, **parts)


def _read(path: Path) -> list[Json]:
    rows: list[Json] = yaml.load(path.read_text(), _Loader)  # noqa: S506 (a loader of plain values)
    return rows


def stories() -> list[Story]:
    """Every story, in the order of the files' names."""
    made = [_exchange(row) for row in _read(FOLDER / "branch.yaml")]
    found = []
    for path in sorted(FOLDER.glob("*.yaml")):
        if path.name == "branch.yaml":
            continue
        for row in _read(path):
            first = [_filled_in(each, *branch) for branch in row.get("begins", {}).items() for each in made]
            rest = [_exchange(each) for each in row["exchanges"]]
            callers = row.get("callers", ["installation", "person"])
            found.append(Story(row["story"], [*first, *rest], callers))
    return found
