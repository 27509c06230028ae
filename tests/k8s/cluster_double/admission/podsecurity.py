"""Pod Security admission, in its own words. Pure.

https://kubernetes.io/docs/concepts/security/pod-security-standards/; the words and their order are those of
k8s.io/pod-security-admission/policy. Windows and AppArmor's former annotations are not here.
"""

from collections.abc import Callable, Iterable, Iterator
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
DEFAULT_CAPABILITIES = {
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "MKNOD",
    "NET_BIND_SERVICE",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
}


SELINUX_TYPES = {"", "container_t", "container_init_t", "container_kvm_t", "container_engine_t"}
SYSCTLS = {
    "kernel.shm_rmid_forced",
    "net.ipv4.ip_local_port_range",
    "net.ipv4.ip_local_reserved_ports",
    "net.ipv4.ip_unprivileged_port_start",
    "net.ipv4.ping_group_range",
    "net.ipv4.tcp_fin_timeout",
    "net.ipv4.tcp_keepalive_intvl",
    "net.ipv4.tcp_keepalive_probes",
    "net.ipv4.tcp_keepalive_time",
    "net.ipv4.tcp_rmem",
    "net.ipv4.tcp_syncookies",
    "net.ipv4.tcp_wmem",
}


def violations(spec: Object, level: str) -> list[str]:
    """Why a pod with this spec breaks `level` (baseline or restricted); empty if it does not."""
    checks: dict[str, tuple[Callable[[Object], Iterator[str]], ...]] = {"baseline": BASELINE, "restricted": RESTRICTED}
    return [found for check in checks.get(level, ()) for found in check(spec)]


def refusal(spec: Object, level: str) -> str | None:
    """The sentence of the 403, or None."""
    found = violations(spec, level)
    return f'violates PodSecurity "{level}:latest": {", ".join(found)}' if found else None


def _containers(spec: Object) -> list[Object]:
    return [*(spec.get("initContainers") or []), *(spec.get("containers") or [])]


def _context(container: Object) -> Object:
    return container.get("securityContext") or {}


def _quoted(names: Iterable[Any]) -> str:
    return ", ".join(f'"{name}"' for name in names)


def _names(containers: list[Object]) -> str:
    return f"container{'s' if len(containers) > 1 else ''} {_quoted(item.get('name') for item in containers)}"


def _pods_and(pod: bool, containers: list[Object]) -> str:
    return " and ".join([*(["pod"] if pod else []), *([_names(containers)] if containers else [])])


def _added(container: Object) -> set[str]:
    return set((_context(container).get("capabilities") or {}).get("add") or [])


def _default_capabilities(spec: Object) -> Iterator[str]:
    bad = [item for item in _containers(spec) if _added(item) - DEFAULT_CAPABILITIES]
    if bad:
        odd = sorted(set().union(*map(_added, bad)) - DEFAULT_CAPABILITIES)
        words = f"must not include {_quoted(odd)} in securityContext.capabilities.add"
        yield f"non-default capabilities ({_names(bad)} {words})"


def _host_namespaces(spec: Object) -> Iterator[str]:
    found = [f"{field}=true" for field in ("hostNetwork", "hostPID", "hostIPC") if spec.get(field)]
    if found:
        yield f"host namespaces ({', '.join(found)})"


def _host_path(spec: Object) -> Iterator[str]:
    found = [volume.get("name") for volume in spec.get("volumes") or [] if "hostPath" in volume]
    if found:
        yield f"hostPath volumes (volume{'s' if len(found) > 1 else ''} {_quoted(found)})"


def _host_ports(spec: Object) -> Iterator[str]:
    def ports(item: Object) -> set[str]:
        return {str(port["hostPort"]) for port in item.get("ports") or [] if port.get("hostPort")}

    bad = [item for item in _containers(spec) if ports(item)]
    if bad:
        taken = sorted(set().union(*map(ports, bad)))
        verb, noun = "use" if len(bad) > 1 else "uses", "hostPorts" if len(taken) > 1 else "hostPort"
        yield f"hostPort ({_names(bad)} {verb} {noun} {', '.join(taken)})"


def _privileged(spec: Object) -> Iterator[str]:
    bad = [item for item in _containers(spec) if _context(item).get("privileged")]
    if bad:
        yield f"privileged ({_names(bad)} must not set securityContext.privileged=true)"


def _app_armor(spec: Object) -> Iterator[str]:
    def odd(where: Object) -> str | None:
        kind = (where.get("appArmorProfile") or {}).get("type")
        return None if kind in (None, *SECCOMP) else str(kind)

    pod = odd(spec.get("securityContext") or {})
    bad = [item for item in _containers(spec) if odd(_context(item))]
    if pod or bad:
        values = sorted({*([pod] if pod else []), *(str(odd(_context(item))) for item in bad)})
        words = f"must not set AppArmor profile type to {_quoted(values)}"
        yield f"forbidden AppArmor profile{'s' if len(values) > 1 else ''} ({_pods_and(bool(pod), bad)} {words})"


def _selinux(spec: Object) -> Iterator[str]:
    def options(where: Object) -> Object:
        return where.get("seLinuxOptions") or {}

    def odd(where: Object) -> bool:
        found = options(where)
        return (found.get("type") or "") not in SELINUX_TYPES or bool(found.get("user") or found.get("role"))

    context = spec.get("securityContext") or {}
    pod, bad = odd(context), [item for item in _containers(spec) if odd(_context(item))]
    given = [options(where) for where in (context, *map(_context, _containers(spec)))]
    kinds = sorted({found.get("type") or "" for found in given} - SELINUX_TYPES)
    told = [f"type{'s' if len(kinds) > 1 else ''} {_quoted(kinds)}"] if kinds else []
    told += [f"{field} may not be set" for field in ("user", "role") if any(found.get(field) for found in given)]
    if pod or bad:
        yield f"seLinuxOptions ({_pods_and(pod, bad)} set forbidden securityContext.seLinuxOptions: {'; '.join(told)})"


def _sysctls(spec: Object) -> Iterator[str]:
    given = [item.get("name", "") for item in (spec.get("securityContext") or {}).get("sysctls") or []]
    if odd := [name for name in given if name not in SYSCTLS]:
        yield f"forbidden sysctls ({', '.join(odd)})"


def _proc_mount(spec: Object) -> Iterator[str]:
    kinds = {item["name"]: _context(item).get("procMount") or "Default" for item in _containers(spec)}
    bad = [item for item in _containers(spec) if kinds[item["name"]] != "Default"]
    if bad:
        values = sorted(set(kinds.values()) - {"Default"})
        yield f"procMount ({_names(bad)} must not set securityContext.procMount to {_quoted(values)})"


def _probed_hosts(item: Object) -> set[str]:
    lifecycle = item.get("lifecycle") or {}
    places = [item.get(kind) or {} for kind in ("livenessProbe", "readinessProbe", "startupProbe")]
    places += [lifecycle.get(kind) or {} for kind in ("postStart", "preStop")]
    return {(place.get(way) or {}).get("host") or "" for place in places for way in ("httpGet", "tcpSocket")} - {""}


def _hosts(spec: Object) -> Iterator[str]:
    bad = [item for item in _containers(spec) if _probed_hosts(item)]
    if bad:
        hosts = sorted(set().union(*map(_probed_hosts, bad)))
        verb, noun = "use" if len(bad) > 1 else "uses", f"probe or lifecycle host{'s' if len(hosts) > 1 else ''}"
        yield f"probe or lifecycle host ({_names(bad)} {verb} {noun} {_quoted(hosts)})"


def _seccomp(spec: Object, *, wanted: bool) -> Iterator[str]:
    """A profile that is set has to be a good one; with `wanted`, one has to be set."""

    def kind(where: Object) -> Any:
        return (where.get("seccompProfile") or {}).get("type")

    pod = kind(spec.get("securityContext") or {})
    bad = [item for item in _containers(spec) if kind(_context(item)) not in (None, *SECCOMP)]
    odd = pod not in (None, *SECCOMP)
    if odd or bad:
        values = sorted({*([pod] if odd else []), *(kind(_context(item)) for item in bad)})
        words = f"must not set securityContext.seccompProfile.type to {_quoted(values)}"
        yield f"seccompProfile ({_pods_and(odd, bad)} {words})"
        return
    unset = [item for item in _containers(spec) if kind(_context(item)) is None and pod is None]
    if wanted and unset:
        words = 'must set securityContext.seccompProfile.type to "RuntimeDefault" or "Localhost"'
        yield f"seccompProfile (pod or {_names(unset)} {words})"


def _baseline_seccomp(spec: Object) -> Iterator[str]:
    yield from _seccomp(spec, wanted=False)


def _restricted_seccomp(spec: Object) -> Iterator[str]:
    yield from _seccomp(spec, wanted=True)


def _escalation(spec: Object) -> Iterator[str]:
    bad = [item for item in _containers(spec) if _context(item).get("allowPrivilegeEscalation") is not False]
    if bad:
        words = "must set securityContext.allowPrivilegeEscalation=false"
        yield f"allowPrivilegeEscalation != false ({_names(bad)} {words})"


def _no_capabilities(spec: Object) -> Iterator[str]:
    def dropped(item: Object) -> list[str]:
        return (_context(item).get("capabilities") or {}).get("drop") or []

    kept = [item for item in _containers(spec) if "ALL" not in dropped(item)]
    told = [f'{_names(kept)} must set securityContext.capabilities.drop=["ALL"]'] if kept else []
    added = [item for item in _containers(spec) if _added(item) - {"NET_BIND_SERVICE"}]
    if added:
        odd = sorted(set().union(*map(_added, added)) - {"NET_BIND_SERVICE"})
        told.append(f"{_names(added)} must not include {_quoted(odd)} in securityContext.capabilities.add")
    if told:
        yield f"unrestricted capabilities ({'; '.join(told)})"


def _volume_types(spec: Object) -> Iterator[str]:
    odd = {
        volume.get("name"): kind
        for volume in spec.get("volumes") or []
        for kind in volume.keys() - {"name"} - RESTRICTED_VOLUMES
    }
    if odd:
        verb, kinds = "use" if len(odd) > 1 else "uses", sorted(set(odd.values()))
        noun = f"restricted volume type{'s' if len(kinds) > 1 else ''}"
        names = f"volume{'s' if len(odd) > 1 else ''} {_quoted(odd)}"
        yield f"restricted volume types ({names} {verb} {noun} {_quoted(kinds)})"


def _non_root(spec: Object) -> Iterator[str]:
    pod = (spec.get("securityContext") or {}).get("runAsNonRoot")
    bad = [item for item in _containers(spec) if _context(item).get("runAsNonRoot") is False]
    if bad or pod is False:
        yield f"runAsNonRoot != true ({_pods_and(pod is False, bad)} must not set securityContext.runAsNonRoot=false)"
        return
    unset = [item for item in _containers(spec) if _context(item).get("runAsNonRoot") is None and not pod]
    if unset:
        yield f"runAsNonRoot != true (pod or {_names(unset)} must set securityContext.runAsNonRoot=true)"


def _root_user(spec: Object) -> Iterator[str]:
    pod = (spec.get("securityContext") or {}).get("runAsUser") == 0
    bad = [item for item in _containers(spec) if _context(item).get("runAsUser") == 0]
    if pod or bad:
        yield f"runAsUser=0 ({_pods_and(pod, bad)} must not set runAsUser=0)"


BASELINE = (
    _app_armor,
    _default_capabilities,
    _host_namespaces,
    _host_path,
    _host_ports,
    _hosts,
    _privileged,
    _proc_mount,
    _selinux,
    _baseline_seccomp,
    _sysctls,
)
# Checks of "restricted" replace those of "baseline" about the same thing.
RESTRICTED = (
    _app_armor,
    _host_namespaces,
    _host_ports,
    _hosts,
    _privileged,
    _proc_mount,
    _selinux,
    _sysctls,
    _escalation,
    _no_capabilities,
    _volume_types,
    _non_root,
    _root_user,
    _restricted_seccomp,
)
