"""YAML that strangers wrote, read with its lines: safe scalars only, no duplicates, no tags, no bombs."""

from dataclasses import dataclass, field
from typing import Any

import yaml
from yaml.reader import ReaderError

MAX_BYTES = 64 * 1024
MAX_NODES = 5_000
MAX_DEPTH = 20
MAX_BRACKETS = 100

_MERGE = "tag:yaml.org,2002:merge"
_NAMES = ("str", "int", "float", "bool", "null", "timestamp", "seq", "map")
_TAGS = {f"tag:yaml.org,2002:{name}" for name in _NAMES}


@dataclass(frozen=True, slots=True)
class Problem:
    """What is wrong, and where: `line` and `column` count from 1, `path` is like `limits.attempts`."""

    line: int
    column: int
    path: str
    reason: str

    def __str__(self) -> str:
        where = f"line {self.line}, column {self.column}"
        return f"{where}: `{self.path}`: {self.reason}" if self.path else f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Node:
    """A plain value and where each of its parts stands."""

    value: Any
    marks: dict[tuple[int | str, ...], tuple[int, int]] = field(default_factory=dict)

    def mark(self, location: tuple[int | str, ...]) -> tuple[int, int]:
        """Line and column of the part at `location`, or of the nearest one around it."""
        while location and location not in self.marks:
            location = location[:-1]
        return self.marks.get(location, (1, 1))


class _BadYaml(Exception):
    def __init__(self, mark: yaml.Mark | None, path: tuple[int | str, ...], reason: str) -> None:
        super().__init__(reason)
        line, column = (mark.line + 1, mark.column + 1) if mark else (1, 1)
        self.problem = Problem(line, column, ".".join(str(part) for part in path), reason)


def read_yaml(text: str | bytes) -> tuple[Node | None, tuple[Problem, ...]]:
    """The first document of `text` as plain values, or the problem that makes it unreadable. None: no document."""
    if len(text) > MAX_BYTES:
        return None, (Problem(1, 1, "", f"the file is longer than {MAX_BYTES // 1024} KiB"),)
    try:
        text = text.decode("utf-8-sig") if isinstance(text, bytes) else text
    except UnicodeDecodeError as error:
        before = error.object[: error.start].decode("utf-8")
        return None, (_at(before, len(before), "the file is no UTF-8 text"),)
    if _brackets(text) > MAX_BRACKETS:
        return None, (Problem(1, 1, "", f"this is no YAML: more than {MAX_BRACKETS} brackets are open at once"),)
    loader = None
    try:
        loader = yaml.SafeLoader(text)
        root = loader.get_single_node()
        if root is None:
            return None, ()
        reader = _Reader(loader)
        return Node(reader.plain(root, ()), reader.marks), ()
    except _BadYaml as error:
        return None, (error.problem,)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        reason = f"this is no YAML: {error.problem or error.context}"
        return None, (Problem(mark.line + 1, mark.column + 1, "", reason) if mark else Problem(1, 1, "", reason),)
    except ReaderError as error:
        reason = f"this is no YAML: the character {error.character:#06x} is not allowed"
        return None, (_at(text, error.position, reason),)
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        return None, (Problem(1, 1, "", f"this is no YAML: {error}"),)
    finally:
        if loader is not None:
            loader.dispose()


def _at(text: str, position: int, reason: str) -> Problem:
    before = text[:position]
    return Problem(before.count("\n") + 1, position - before.rfind("\n"), "", reason)


def _brackets(text: str) -> int:
    """How deep brackets nest, at most: PyYAML needs time in the square of it."""
    depth = deepest = 0
    for character in text:
        if character in "[{":
            depth += 1
            deepest = max(deepest, depth)
        elif character in "]}" and depth:
            depth -= 1
    return deepest


class _Reader:
    def __init__(self, loader: yaml.SafeLoader) -> None:
        self.loader = loader
        self.marks: dict[tuple[int | str, ...], tuple[int, int]] = {}
        self.nodes = 0

    def plain(self, node: yaml.Node, path: tuple[int | str, ...]) -> Any:
        """The value of `node`; an alias counts as often as it is used, so a bomb runs out of nodes."""
        self.nodes += 1
        if self.nodes > MAX_NODES or len(path) > MAX_DEPTH:
            raise _BadYaml(node.start_mark, path[:3], "the file is too large or too deep once its aliases are followed")
        self.marks.setdefault(path, (node.start_mark.line + 1, node.start_mark.column + 1))
        if node.tag not in _TAGS:
            raise _BadYaml(node.start_mark, path, f"the tag {node.tag} is not allowed here")
        if isinstance(node, yaml.MappingNode):
            return self._mapping(node, path)
        if isinstance(node, yaml.SequenceNode):
            return [self.plain(each, (*path, index)) for index, each in enumerate(node.value)]
        try:
            return self.loader.construct_object(node)
        except (ValueError, OverflowError) as error:
            raise _BadYaml(node.start_mark, path, f"{node.value!r} cannot be read: {error}") from error

    def _mapping(self, node: yaml.MappingNode, path: tuple[int | str, ...]) -> dict[str, Any]:
        result: dict[str, Any] = {}
        for key, value in node.value:
            if key.tag == _MERGE or not isinstance(key, yaml.ScalarNode):
                raise _BadYaml(key.start_mark, path, "a key is a plain word here; merge keys are not read")
            name = str(key.value)
            if name in result:
                raise _BadYaml(key.start_mark, (*path, name), "it is given twice; keep one")
            self.marks[(*path, name)] = (key.start_mark.line + 1, key.start_mark.column + 1)
            result[name] = self.plain(value, (*path, name))
        return result
