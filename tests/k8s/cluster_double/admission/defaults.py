"""What Kubernetes fills in before it looks at an object."""

from typing import Any

Object = dict[str, Any]


def default_pod(spec: Object) -> None:
    """A volume without a kind is an empty folder, and what is limited is asked for."""
    for volume in spec.get("volumes") or []:
        if isinstance(volume, dict) and set(volume) == {"name"}:
            volume["emptyDir"] = {}
    for container in [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]:
        resources = container.get("resources") if isinstance(container, dict) else None
        if isinstance(resources, dict) and isinstance(resources.get("limits"), dict):
            resources["requests"] = {**resources["limits"], **(resources.get("requests") or {})}
