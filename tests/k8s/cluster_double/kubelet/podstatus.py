"""Status objects as a scheduler and a kubelet write them. Pure."""

from typing import Any

from tests.k8s.cluster_double.kubelet.probes import Prober
from tests.k8s.cluster_double.objects.store import now

Object = dict[str, Any]


def condition(kind: str, status: str, reason: str = "", message: str = "") -> Object:
    made = {"type": kind, "status": status, "lastTransitionTime": now()}
    return made | {key: value for key, value in (("reason", reason), ("message", message)) if value}


def with_condition(status: Object, new: Object) -> Object:
    others = [old for old in status.get("conditions") or [] if old["type"] != new["type"]]
    return status | {"conditions": [*others, new]}


def waiting(pod: Object, reason: str, message: str = "") -> list[Object]:
    """Container statuses of a pod none of whose containers has started."""
    state: Object = {"waiting": {"reason": reason, **({"message": message} if message else {})}}
    return [container_status(container, state) for container in pod["spec"]["containers"]]


def container_status(
    container: Object, state: Object, *, restarts: int = 0, last: Object | None = None, prober: Prober | None = None
) -> Object:
    """The status of one container; `prober` says of a running one whether it is ready."""
    running = "running" in state
    return {
        "name": container["name"],
        "image": container["image"],
        "imageID": "",
        "ready": running and (prober is None or prober.ready),
        "started": running and (prober is None or prober.started),
        "restartCount": restarts,
        "state": state,
        "lastState": last or {},
    }


def terminated(code: int, started: str, *, reason: str = "", message: str = "") -> Object:
    made: Object = {
        "exitCode": code,
        "reason": reason or ("Completed" if code == 0 else "Error"),
        "startedAt": started,
        "finishedAt": now(),
    }
    return {"terminated": made | ({"message": message} if message else {})}
