"""Pod Security admission, in its own words. Pure.

https://kubernetes.io/docs/concepts/security/pod-security-standards/
"""

from collections.abc import Iterator
from typing import Any

Object = dict[str, Any]

ENFORCE = "pod-security.kubernetes.io/enforce"
RESTRICTED_VOLUMES = {
    "configMap",
    "csi",
    "downwardAPI",
    "emptyDir",
    "ephemeral",
    "image",
    "persistentVolumeClaim",
    "projected",
    "secret",
}
SECCOMP = ("RuntimeDefault", "Localhost")


def violations(spec: Object, level: str) -> list[str]:
    """Why a pod with this spec breaks `level` (baseline or restricted); empty if it does not."""
    if level not in ("baseline", "restricted"):
        return []
    found = list(_baseline(spec))
    return found + list(_restricted(spec)) if level == "restricted" else found


def refusal(spec: Object, level: str) -> str | None:
    """The sentence of the 403, or None."""
    found = violations(spec, level)
    return f'violates PodSecurity "{level}:latest": {", ".join(found)}' if found else None


def _containers(spec: Object) -> list[Object]:
    return [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]


def _context(container: Object) -> Object:
    return container.get("securityContext") or {}


def _names(containers: list[Object]) -> str:
    quoted = ", ".join(f'"{container.get("name")}"' for container in containers)
    return f"container {quoted}" if len(containers) == 1 else f"containers {quoted}"


def _baseline(spec: Object) -> Iterator[str]:
    for field in ("hostNetwork", "hostPID", "hostIPC"):
        if spec.get(field):
            yield f"host namespaces ({field}=true)"
    bad = [container for container in _containers(spec) if _context(container).get("privileged")]
    if bad:
        yield f"privileged ({_names(bad)} must not set securityContext.privileged=true)"
    for volume in spec.get("volumes") or []:
        if "hostPath" in volume:
            yield f'hostPath volumes (volume "{volume.get("name")}")'


def _restricted(spec: Object) -> Iterator[str]:
    for volume in spec.get("volumes") or []:
        for kind in volume.keys() - {"name"} - RESTRICTED_VOLUMES:
            yield f'restricted volume types (volume "{volume.get("name")}" uses restricted volume type "{kind}")'
    containers = _containers(spec)
    bad = [item for item in containers if _context(item).get("allowPrivilegeEscalation") is not False]
    if bad:
        words = "must set securityContext.allowPrivilegeEscalation=false"
        yield f"allowPrivilegeEscalation != false ({_names(bad)} {words})"
    bad = [item for item in containers if "ALL" not in ((_context(item).get("capabilities") or {}).get("drop") or [])]
    if bad:
        yield f'unrestricted capabilities ({_names(bad)} must set securityContext.capabilities.drop=["ALL"])'
    added = [
        item
        for item in containers
        if set((_context(item).get("capabilities") or {}).get("add") or []) - {"NET_BIND_SERVICE"}
    ]
    if added:
        yield f"unrestricted capabilities ({_names(added)} must not add capabilities)"
    yield from _non_root(spec, containers)
    pod = ((spec.get("securityContext") or {}).get("seccompProfile") or {}).get("type")
    bad = [item for item in containers if (_context(item).get("seccompProfile") or {}).get("type", pod) not in SECCOMP]
    if bad:
        words = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
        yield f"seccompProfile (pod or {_names(bad)} {words})"


def _non_root(spec: Object, containers: list[Object]) -> Iterator[str]:
    pod = spec.get("securityContext") or {}
    bad = [item for item in containers if _context(item).get("runAsNonRoot", pod.get("runAsNonRoot")) is not True]
    if bad:
        yield f"runAsNonRoot != true (pod or {_names(bad)} must set securityContext.runAsNonRoot=true)"
    if pod.get("runAsUser") == 0:
        yield "runAsUser=0 (pod must not set runAsUser=0)"
    bad = [item for item in containers if _context(item).get("runAsUser") == 0]
    if bad:
        yield f"runAsUser=0 ({_names(bad)} must not set runAsUser=0)"
