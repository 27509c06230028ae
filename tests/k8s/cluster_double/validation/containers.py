"""The containers of a pod."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import (
    bad,
    denied,
    each_bad,
    missing,
    not_negative,
    one_of,
    repeated,
    required,
)
from tests.k8s.cluster_double.validation.names import config_key, dns_label, port_name, port_number, variable
from tests.k8s.cluster_double.validation.quantities import amounts, within

Object = dict[str, Any]

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc")
PROBE_NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")


def containers(path: str, items: list[Object], volumes: list[str]) -> Iterator[str]:
    if not items:
        yield required(path)
    names: set[str] = set()
    for at, item in enumerate(items):
        here, name = f"{path}[{at}]", item.get("name", "")
        yield from _container(here, item, volumes)
        if name in names:
            yield repeated(f"{here}.name", name)
        names.add(name)
        for probe in PROBES:
            if item.get(probe):
                yield from _probe(f"{here}.{probe}", item[probe])


def _container(path: str, item: Object, volumes: list[str]) -> Iterator[str]:
    if not item.get("name"):
        yield required(f"{path}.name")
    else:
        yield from each_bad(f"{path}.name", item["name"], dns_label(item["name"]))
    if not item.get("image"):
        yield required(f"{path}.image")
    messages = ("File", "FallbackToLogsOnError")
    yield from one_of(f"{path}.terminationMessagePolicy", item.get("terminationMessagePolicy"), messages)
    yield from _ports(f"{path}.ports", item.get("ports") or [])
    for at, env in enumerate(item.get("env") or []):
        yield from _variable(f"{path}.env[{at}]", env)
    for at, source in enumerate(item.get("envFrom") or []):
        kinds = [kind for kind in ("configMapRef", "secretRef") if source.get(kind)]
        if not kinds:
            yield bad(f"{path}.envFrom[{at}]", "", "must specify one of: `configMapRef` or `secretRef`")
    yield from _mounts(f"{path}.volumeMounts", item.get("volumeMounts") or [], volumes)
    yield from one_of(f"{path}.imagePullPolicy", item.get("imagePullPolicy"), ("Always", "IfNotPresent", "Never"))
    resources = item.get("resources") or {}
    requests, limits = resources.get("requests") or {}, resources.get("limits") or {}
    yield from amounts(f"{path}.resources.limits", limits)
    yield from amounts(f"{path}.resources.requests", requests)
    yield from within(f"{path}.resources.requests", requests, limits)
    yield from _security(f"{path}.securityContext", item.get("securityContext") or {})


def _ports(path: str, items: list[Object]) -> Iterator[str]:
    names: set[str] = set()
    for at, port in enumerate(items):
        if name := port.get("name"):
            wrong = list(port_name(name))
            yield from each_bad(f"{path}[{at}].name", name, wrong)
            if not wrong and name in names:
                yield repeated(f"{path}[{at}].name", name)
            names.add(name)
        if not port.get("containerPort"):
            yield required(f"{path}[{at}].containerPort")
        else:
            yield from each_bad(
                f"{path}[{at}].containerPort", port["containerPort"], port_number(port["containerPort"])
            )
        yield from one_of(f"{path}[{at}].protocol", port.get("protocol"), ("SCTP", "TCP", "UDP"))


def _variable(path: str, env: Object) -> Iterator[str]:
    if not env.get("name"):
        yield required(f"{path}.name")
    else:
        yield from each_bad(f"{path}.name", env["name"], variable(env["name"]))
    source = env.get("valueFrom")
    if source is None:
        return
    if env.get("value"):
        yield bad(f"{path}.valueFrom", "", "may not be specified when `value` is not empty")
    for field in ("secretKeyRef", "configMapKeyRef"):
        if field in source:
            key = source[field].get("key", "")
            wrong = list(config_key(key)) if key else []
            yield from [] if key else [required(f"{path}.valueFrom.{field}.key")]
            yield from each_bad(f"{path}.valueFrom.{field}.key", key, wrong)


def _mounts(path: str, items: list[Object], volumes: list[str]) -> Iterator[str]:
    paths: set[str] = set()
    for at, mount in enumerate(items):
        here, name, where = f"{path}[{at}]", mount.get("name", ""), mount.get("mountPath", "")
        if not name:
            yield required(f"{here}.name")
        if name not in volumes:
            yield missing(f"{here}.name", name)
        if not where:
            yield required(f"{here}.mountPath")
        if where in paths:
            yield bad(f"{here}.mountPath", where, "must be unique")
        paths.add(where)
        sub = mount.get("subPath", "")
        if sub.startswith("/"):
            yield bad(f"{path}.subPath", sub, "must be a relative path")
        if ".." in sub.split("/"):
            yield bad(f"{path}.subPath", sub, "must not contain '..'")


def _probe(path: str, probe: Object) -> Iterator[str]:
    handlers = [handler for handler in HANDLERS if probe.get(handler) is not None]
    if not handlers:
        yield required(path, "must specify a handler type")
    for second in handlers[1:]:
        yield denied(f"{path}.{second}", "may not specify more than 1 handler type")
    for handler in handlers[:1]:
        port = probe[handler].get("port")
        if isinstance(port, int):
            yield from each_bad(f"{path}.{handler}.port", port, port_number(port))
        elif isinstance(port, str):
            yield from each_bad(f"{path}.{handler}.port", port, port_name(port))
    for field in PROBE_NUMBERS:
        yield from not_negative(f"{path}.{field}", probe.get(field))


def _security(path: str, context: Object) -> Iterator[str]:
    for field in ("runAsUser", "runAsGroup"):
        number = context.get(field)
        if number is not None and not 0 <= number < 2**31:
            yield bad(f"{path}.{field}", number, "must be between 0 and 2147483647, inclusive")
    if context.get("privileged") and context.get("allowPrivilegeEscalation") is False:
        words = "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"
        yield f"{path}: Invalid value: {words}"
