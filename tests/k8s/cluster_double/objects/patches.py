"""The patch formats of the API, on plain JSON. Pure."""

import copy
from typing import Any

from tests.k8s.cluster_double.objects.errors import Refused, bad_request

Object = dict[str, Any]

MERGE = "application/merge-patch+json"
STRATEGIC = "application/strategic-merge-patch+json"
JSON = "application/json-patch+json"
APPLY = ("application/apply-patch+yaml", "application/apply-patch+cbor")

# Lists that a strategic patch merges by key instead of replacing them; the same key in every type we keep.
MERGE_KEYS = {
    "containers": "name",
    "initContainers": "name",
    "volumes": "name",
    "env": "name",
    "volumeMounts": "mountPath",
    "ports": "port",
    "conditions": "type",
    "imagePullSecrets": "name",
    "tolerations": "key",
}


def patched(item: Object, patch: Any, media: str) -> Object:
    """`item` changed by `patch`. Raises Refused 415 for an unknown format."""
    if media == MERGE:
        return _object(merge(item, patch))
    if media == STRATEGIC:
        return _object(_strategic(item, patch, ""))
    if media == JSON:
        return _json_patch(item, patch)
    raise Refused(415, "UnsupportedMediaType", f"the body of the request was in an unknown format: {media}")


def applied(item: Object, before: Object, wanted: Object) -> Object:
    """Server-side apply for one manager: what it applied `before` and no longer wants goes, the rest is merged.

    https://kubernetes.io/docs/reference/using-api/server-side-apply/
    """
    return _object(_strategic(_without(item, before, wanted), wanted, ""))


def _without(item: Any, before: Any, wanted: Any) -> Any:
    if not (isinstance(item, dict) and isinstance(before, dict) and isinstance(wanted, dict)):
        return item
    result = {}
    for key, value in item.items():
        if key in before and key not in wanted:
            continue
        old, new = before.get(key), wanted.get(key)
        merge_key = MERGE_KEYS.get(key)
        if merge_key and isinstance(value, list) and isinstance(old, list) and isinstance(new, list):
            gone = {entry.get(merge_key) for entry in old} - {entry.get(merge_key) for entry in new}
            result[key] = [entry for entry in value if entry.get(merge_key) not in gone]
        else:
            result[key] = _without(value, old, new)
    return result


def merge(item: Any, patch: Any) -> Any:
    """RFC 7386."""
    if not isinstance(patch, dict):
        return copy.deepcopy(patch)
    result = copy.deepcopy(item) if isinstance(item, dict) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = merge(result.get(key), value)
    return result


def _strategic(item: Any, patch: Any, field: str) -> Any:
    if isinstance(patch, dict):
        if patch.get("$patch") == "replace":
            return {key: value for key, value in patch.items() if key != "$patch"}
        result = copy.deepcopy(item) if isinstance(item, dict) else {}
        for key, value in patch.items():
            if key.startswith("$"):
                continue
            if value is None:
                result.pop(key, None)
            else:
                result[key] = _strategic(result.get(key), value, key)
        return result
    merge_key = MERGE_KEYS.get(field)
    if isinstance(patch, list) and isinstance(item, list) and merge_key and _all_have(patch, merge_key):
        return _merge_list(item, patch, merge_key, field)
    return copy.deepcopy(patch)


def _all_have(entries: list[Any], key: str) -> bool:
    return all(isinstance(entry, dict) and (key in entry or "$patch" in entry) for entry in entries)


def _merge_list(item: list[Any], patch: list[Any], key: str, field: str) -> list[Any]:
    result = copy.deepcopy(item)
    for entry in patch:
        at = next((place for place, old in enumerate(result) if old.get(key) == entry.get(key)), None)
        if entry.get("$patch") == "delete":
            if at is not None:
                del result[at]
        elif at is None:
            result.append(copy.deepcopy(entry))
        else:
            result[at] = _strategic(result[at], entry, field)
    return result


def _json_patch(item: Object, operations: Any) -> Object:
    result: Any = copy.deepcopy(item)
    if not isinstance(operations, list):
        raise bad_request("a JSON patch is a list of operations")
    for operation in operations:
        *path, last = [
            part.replace("~1", "/").replace("~0", "~") for part in str(operation.get("path", "")).split("/")[1:]
        ] or [""]
        try:
            parent = result
            for step in path:
                parent = parent[int(step)] if isinstance(parent, list) else parent[step]
            _apply(parent, last, operation)
        except (KeyError, IndexError, ValueError, TypeError) as error:
            raise Refused(422, "Invalid", f"the patch cannot be applied at {operation.get('path')!r}") from error
    return _object(result)


def _apply(parent: Any, last: str, operation: Object) -> None:
    kind = operation.get("op")
    at: Any = last
    if isinstance(parent, list):
        at = len(parent) if last == "-" else int(last)
    if kind == "add" and isinstance(parent, list):
        parent.insert(at, operation["value"])
    elif kind in ("add", "replace"):
        if kind == "replace" and not isinstance(parent, list) and at not in parent:
            raise KeyError(at)
        parent[at] = operation["value"]
    elif kind == "remove":
        del parent[at]
    elif kind == "test":
        if parent[at] != operation["value"]:
            raise ValueError(at)
    else:
        raise bad_request(f"unexpected patch operation {kind!r}")


def _object(value: Any) -> Object:
    if not isinstance(value, dict):
        raise bad_request("the patched object is no object")
    return value
