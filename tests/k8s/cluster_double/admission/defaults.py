"""What Kubernetes makes of a body before it looks at it: nulls are left out, and defaults filled in."""

from typing import Any

Object = dict[str, Any]

# Maps of text to text: a null in them is an empty text. Elsewhere it is as if the field were not there.
TEXTS = {"labels", "annotations", "data", "stringData", "matchLabels", "nodeSelector"}
AMOUNTS = {"requests", "limits", "hard", "default", "defaultRequest", "max", "min"}


def without_nulls(item: Any, name: str = "") -> Any:
    if isinstance(item, list):
        return [without_nulls(each) for each in item]
    if not isinstance(item, dict):
        return item
    kept = {key: without_nulls(value, key) for key, value in item.items() if value is not None}
    empty = "" if name in TEXTS else "0" if name in AMOUNTS else None
    if empty is not None:
        kept |= {key: empty for key, value in item.items() if value is None}
    return {key: kept[key] for key in item if key in kept}


def default_pod(spec: Object) -> None:
    """A volume without a kind is an empty folder, and what is limited is asked for."""
    for volume in spec.get("volumes") or []:
        if isinstance(volume, dict) and set(volume) == {"name"}:
            volume["emptyDir"] = {}
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        resources = container.get("resources") if isinstance(container, dict) else None
        if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}


def default_limits(spec: Object) -> None:
    """The most is the default, which is asked for, or else the least."""
    for limit in spec.get("limits") or []:
        if isinstance(limit, dict) and limit.get("type") == "Container":
            default = {**(limit.get("max") or {}), **(limit.get("default") or {})}
            asked = {**(limit.get("min") or {}), **default, **(limit.get("defaultRequest") or {})}
            limit |= {key: value for key, value in (("default", default), ("defaultRequest", asked)) if value}


def default_binding(item: Object) -> None:
    """What is bound is a role of Kubernetes' own group."""
    reference = item.setdefault("roleRef", {})
    reference["apiGroup"] = reference.get("apiGroup") or "rbac.authorization.k8s.io"
