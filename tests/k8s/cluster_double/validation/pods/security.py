"""The security contexts of a pod and of its containers."""

import re
from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, one_of, required, unknown
from tests.k8s.cluster_double.validation.names import id_number

Object = dict[str, Any]

PROFILES = ("Localhost", "RuntimeDefault", "Unconfined")
SYSCTL = r"^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$"


def of_pod(path: str, spec: Object) -> Iterator[str]:
    context = spec.get("securityContext") or {}
    here = f"{path}.securityContext"
    yield from _ids(here, context, ("fsGroup", "runAsUser", "runAsGroup"))
    for at, group in enumerate(context.get("supplementalGroups") or []):
        yield from each_bad(f"{here}.supplementalGroups[{at}]", group, id_number(group))
    if spec.get("shareProcessNamespace") and spec.get("hostPID"):
        words = "ShareProcessNamespace and HostPID cannot both be enabled"
        yield bad(f"{here}.shareProcessNamespace", True, words)
    names: set[str] = set()
    for at, item in enumerate(context.get("sysctls") or []):
        name = item.get("name", "")
        if not name:
            yield required(f"{here}.sysctls[{at}].name")
        elif len(name) > 253 or not re.fullmatch(SYSCTL, name):
            words = f"must have at most 253 characters and match regex {SYSCTL}"
            yield bad(f"{here}.sysctls[{at}].name", name, words)
        elif name in names:
            yield f'{here}.sysctls[{at}].name: Duplicate value: "{name}"'
        names.add(name)
    yield from one_of(f"{here}.fsGroupChangePolicy", context.get("fsGroupChangePolicy"), ("Always", "OnRootMismatch"))
    yield from _profiles(here, context)
    yield from one_of(f"{here}.supplementalGroupsPolicy", context.get("supplementalGroupsPolicy"), ("Merge", "Strict"))


def of_container(path: str, context: Object, *, host_users: bool) -> Iterator[str]:
    yield from _ids(path, context, ("runAsUser", "runAsGroup"))
    mount = context.get("procMount")
    yield from one_of(f"{path}.procMount", mount, ("Default", "Unmasked"))
    if mount == "Unmasked" and host_users:
        yield bad(f"{path}.procMount", mount, "`hostUsers` must be false to use `Unmasked`")
    if context.get("privileged") and context.get("allowPrivilegeEscalation") is False:
        words = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        yield bad(path, _as_go_writes_it(context), words)
    yield from _profiles(path, context)


def host_users(path: str, spec: Object) -> Iterator[str]:
    """A pod with users of its own has nothing of the host's."""
    if spec.get("hostUsers") is False:
        for field, name in (("hostNetwork", "hostNetwork"), ("hostPID", "HostPID"), ("hostIPC", "HostIPC")):
            if spec.get(field):
                yield denied(f"{path}.{name}", "when `hostUsers` is false")


def _ids(path: str, context: Object, fields: tuple[str, ...]) -> Iterator[str]:
    for field in fields:
        if context.get(field) is not None:
            yield from each_bad(f"{path}.{field}", context[field], id_number(context[field]))


def _profiles(path: str, context: Object) -> Iterator[str]:
    for field, system in (("seccompProfile", "seccomp"), ("appArmorProfile", "AppArmor")):
        profile = context.get(field)
        if profile is None:
            continue
        here, kind, local = f"{path}.{field}", profile.get("type"), profile.get("localhostProfile")
        if not kind:
            yield required(f"{here}.type", f"type is required when {field} is set")
        elif kind not in PROFILES:
            yield unknown(f"{here}.type", kind, PROFILES)
        elif kind == "Localhost" and not local:
            yield required(f"{here}.localhostProfile", f"must be set when {system} type is Localhost")
        elif kind != "Localhost" and local is not None:
            given = {"Type": kind, "LocalhostProfile": local} if system == "seccomp" else local
            yield bad(f"{here}.localhostProfile", given, f"can only be set when {system} type is Localhost")


def _as_go_writes_it(context: Object) -> Object:
    capabilities, profile = context.get("capabilities"), context.get("seccompProfile")
    fields = (
        "privileged", "sELinuxOptions", "windowsOptions", "runAsUser", "runAsGroup", "runAsNonRoot",
        "readOnlyRootFilesystem", "allowPrivilegeEscalation", "procMount",
    )  # fmt: skip
    return {
        "Capabilities": capabilities and {"Add": capabilities.get("add"), "Drop": capabilities.get("drop")},
        **{field[0].upper() + field[1:]: context.get(field) for field in fields},
        "SeccompProfile": profile and {"Type": profile["type"], "LocalhostProfile": profile.get("localhostProfile")},
        "AppArmorProfile": context.get("appArmorProfile"),
    }
