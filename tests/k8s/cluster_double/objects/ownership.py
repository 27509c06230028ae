"""Which manager applied which fields: what makes server-side apply refuse to take them from each other.

https://kubernetes.io/docs/reference/using-api/server-side-apply/; only what was applied is owned here, not what was
written by PUT or PATCH, and objects do not show it (`metadata.managedFields`).
"""

import copy
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.objects.errors import Refused
from tests.k8s.cluster_double.objects.patches import MERGE_KEYS, applied

Object = dict[str, Any]
Path = tuple[str, ...]

ABOUT = ("apiVersion", "kind", "metadata.name", "metadata.namespace")


class Ownership:
    """What each manager applied last, by object."""

    def __init__(self) -> None:
        self._applied: dict[str, dict[str, Object]] = {}

    def apply(self, item: Object, manager: str, wanted: Object, *, force: bool) -> Object:
        """`item` as `manager` wants it. Raises Refused 409 for a field that another one applied with another value."""
        others = {name: body for name, body in self._of(item).items() if name != manager}
        conflicts = list(_conflicts(others, wanted))
        if conflicts and not force:
            raise _refused(conflicts)
        last = self._of(item).get(manager, {})
        kept = {path for body in others.values() for path, _ in leaves(body)}
        return applied(item, _less(last, kept), wanted)

    def note(self, item: Object, manager: str, wanted: Object) -> None:
        """Write down what `manager` applied; what it took from others is no longer theirs."""
        known = self._of(item)
        others = {name: body for name, body in known.items() if name != manager}
        taken = {path for _, path in _conflicts(others, wanted)}
        for name, body in known.items():
            known[name] = _less(body, taken)
        known[manager] = copy.deepcopy(wanted)

    def _of(self, item: Object) -> dict[str, Object]:
        return self._applied.setdefault(item["metadata"]["uid"], {})


def leaves(body: Any, path: Path = (), field: str = "") -> Iterator[tuple[Path, Any]]:
    """Each value with its path; entries of lists that merge by a key are named by it, other lists are one value."""
    if isinstance(body, dict) and body:
        for key, value in body.items():
            yield from leaves(value, (*path, f".{key}"), key)
    elif isinstance(body, list) and field in MERGE_KEYS:
        key = MERGE_KEYS[field]
        for entry in body:
            yield from leaves(entry, (*path, f'[{key}="{entry.get(key)}"]'))
    elif "".join(path).removeprefix(".") not in ABOUT:
        yield path, body


def _conflicts(others: dict[str, Object], wanted: Object) -> Iterator[tuple[str, Path]]:
    values = dict(leaves(wanted))
    for manager, body in sorted(others.items()):
        for path, value in leaves(body):
            if path in values and values[path] != value:
                yield manager, path


def _less(body: Any, gone: set[Path], path: Path = (), field: str = "") -> Any:
    """`body` without the values at these paths."""
    if isinstance(body, dict):
        kept = {key: _less(value, gone, (*path, f".{key}"), key) for key, value in body.items()}
        return {key: value for key, value in kept.items() if (*path, f".{key}") not in gone}
    if isinstance(body, list) and field in MERGE_KEYS:
        key = MERGE_KEYS[field]
        return [_less(entry, gone, (*path, f'[{key}="{entry.get(key)}"]')) for entry in body]
    return copy.deepcopy(body)


def _refused(conflicts: list[tuple[str, Path]]) -> Refused:
    count = f"{len(conflicts)} conflict{'s' if len(conflicts) > 1 else ''}"
    managers: dict[str, list[str]] = {}
    for manager, path in conflicts:
        managers.setdefault(manager, []).append("".join(path))
    told = []
    for manager, fields in managers.items():
        if len(fields) == 1:
            told.append(f'conflict with "{manager}": {fields[0]}')
        else:
            told.append("\n- ".join([f'conflicts with "{manager}":', *fields]))
    return Refused(409, "Conflict", f"Apply failed with {count}: " + "\n".join(told))
