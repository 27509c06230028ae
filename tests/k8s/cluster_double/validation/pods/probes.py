"""What a kubelet tries or does to a container: probes, and what is run after its start and before its end."""

from collections.abc import Iterator
from typing import Any

from tests.k8s.cluster_double.validation.causes import bad, denied, each_bad, not_negative, one_of, positive, required
from tests.k8s.cluster_double.validation.names import http_header, port, port_number

Object = dict[str, Any]

PROBES = ("livenessProbe", "readinessProbe", "startupProbe")
HANDLERS = ("exec", "httpGet", "tcpSocket", "grpc", "sleep")
NUMBERS = ("initialDelaySeconds", "timeoutSeconds", "periodSeconds", "successThreshold", "failureThreshold")
GRACE = "terminationGracePeriodSeconds"


def probes(path: str, item: Object, grace: int) -> Iterator[str]:
    for kind in PROBES:
        if item.get(kind) is not None:
            yield from _probe(f"{path}.{kind}", kind, item[kind], grace)


def _probe(path: str, kind: str, probe: Object, grace: int) -> Iterator[str]:
    yield from _handler(path, probe, grace)
    for field in NUMBERS:
        yield from not_negative(f"{path}.{field}", probe.get(field))
    yield from positive(f"{path}.{GRACE}", probe.get(GRACE))
    if kind != "readinessProbe" and (often := probe.get("successThreshold") or 1) != 1:
        yield bad(f"{path}.successThreshold", often, "must be 1")
    if kind == "readinessProbe" and probe.get(GRACE) is not None:
        yield bad(f"{path}.{GRACE}", probe[GRACE], "must not be set for readinessProbes")


def lifecycle(path: str, item: Object, grace: int) -> Iterator[str]:
    for moment in ("postStart", "preStop"):
        if item.get(moment) is not None:
            yield from _handler(f"{path}.{moment}", item[moment], grace)


def _handler(path: str, item: Object, grace: int) -> Iterator[str]:
    given = [handler for handler in HANDLERS if item.get(handler) is not None]
    if not given:
        yield required(path, "must specify a handler type")
    for handler in given[1:]:
        yield denied(f"{path}.{handler}", "may not specify more than 1 handler type")
    for handler in given[:1]:
        yield from _action(f"{path}.{handler}", handler, item[handler], grace)


def _action(path: str, handler: str, action: Object, grace: int) -> Iterator[str]:
    if handler == "exec":
        if not action.get("command"):
            yield required(f"{path}.command")
    elif handler == "sleep":
        seconds = action.get("seconds") or 0
        if not 0 <= seconds <= grace:
            yield bad(path, seconds, f"must be non-negative and less than {GRACE} ({grace})")
    elif handler == "grpc":
        yield from each_bad(f"{path}.port", action.get("port") or 0, port_number(action.get("port") or 0))
    else:
        where = action.get("port", 0)
        yield from each_bad(f"{path}.port", where, port(where))
        if handler == "httpGet":
            yield from one_of(f"{path}.scheme", action.get("scheme"), ("HTTP", "HTTPS"))
            for header in action.get("httpHeaders") or []:
                name = header.get("name", "")
                yield from each_bad(f"{path}.httpHeaders", name, http_header(name))
