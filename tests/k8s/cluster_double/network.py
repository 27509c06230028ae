"""Addresses of pods and services on loopback, the names of services, and what kube-proxy does for them.

There is no DNS here: a service's name is replaced by its address in the environment that a container starts with.
"""

import asyncio
import contextlib
import ipaddress
import itertools
import re
import secrets
from typing import Any

from tests.k8s.cluster_double.objects.resources import BY_KIND
from tests.k8s.cluster_double.objects.store import Store

Object = dict[str, Any]
Reader = asyncio.StreamReader
Writer = asyncio.StreamWriter

POD = BY_KIND["Pod"]
SERVICE = BY_KIND["Service"]
PODS, SERVICES = range(2, 200), range(200, 255)
CHUNK = 65536

# a host with a port behind it, in a URL
_HOST = re.compile(r"(?<=[/@])[a-z0-9][a-z0-9.-]*(?=:\d+(?:[/?]|$))")


class Network:
    """A /24 of loopback, chosen at random, so that clusters side by side do not share ports."""

    def __init__(self) -> None:
        self._prefix = f"127.{secrets.randbelow(200) + 20}.{secrets.randbelow(250) + 1}"
        self._pods, self._services = itertools.cycle(PODS), itertools.cycle(SERVICES)

    def pod(self) -> str:
        """An address for a new pod; the oldest is given out again after two hundred."""
        return f"{self._prefix}.{next(self._pods)}"

    @property
    def services(self) -> ipaddress.IPv4Network:
        """Where cluster addresses may be asked for."""
        return ipaddress.IPv4Network(f"{self._prefix}.0/24")

    def service(self) -> str:
        """A cluster address for a new service."""
        return f"{self._prefix}.{next(self._services)}"


def resolved(store: Store, namespace: str, text: str) -> str:
    """`text` with the names of services in its URLs replaced by their addresses, as seen from `namespace`."""

    def address(found: "re.Match[str]") -> str:
        name, space, kind, *_ = [*found[0].split("."), "", "", ""][:4]
        service = store.find(SERVICE, space or namespace, name) if kind in ("", "svc") else None
        ip = (service or {}).get("spec", {}).get("clusterIP", "None")
        return found[0] if ip == "None" else str(ip)

    return _HOST.sub(address, text)


def ready(pod: Object) -> bool:
    """Whether a pod takes traffic."""
    conditions = (pod.get("status") or {}).get("conditions") or []
    up = any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)
    return up and not pod["metadata"].get("deletionTimestamp")


def port_of(container: Object, port: int | str) -> int | None:
    """The number of a port that is given by number or by name."""
    if isinstance(port, int):
        return port
    return next((int(each["containerPort"]) for each in container.get("ports") or [] if each.get("name") == port), None)


class Proxy:
    """Listens at each service's address and hands connections on to its ready pods in turn."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._servers: dict[str, list[asyncio.Server]] = {}
        self._hands: dict[str, set[asyncio.Task[None]]] = {}
        self._turn = itertools.count()

    async def run(self) -> None:
        """Follow the store until cancelled."""
        try:
            async for change in self._store.changes(self._store.version):
                if change.resource == SERVICE:
                    await self._close(change.item["metadata"]["uid"])
                    if change.after is not None:
                        await self._open(change.after)
        finally:
            for uid in list(self._servers):
                await self._close(uid)

    async def _open(self, service: Object) -> None:
        metadata, spec = service["metadata"], service["spec"]
        if spec.get("clusterIP", "None") == "None" or not spec.get("selector"):
            return
        hands = self._hands.setdefault(metadata["uid"], set())
        for port in spec["ports"]:

            def serve(reader: Reader, writer: Writer, port: Object = port) -> None:
                work = self._hand_on(metadata["namespace"], spec["selector"], port, reader, writer)
                hand = asyncio.create_task(work)
                hands.add(hand)
                hand.add_done_callback(hands.discard)
                hand.add_done_callback(lambda _: writer.close())

            server = await asyncio.start_server(serve, spec["clusterIP"], port["port"])
            self._servers.setdefault(metadata["uid"], []).append(server)

    async def _close(self, uid: str) -> None:
        """Close its ports, and cut off whoever is connected."""
        for server in self._servers.pop(uid, []):
            server.close()
        hands = list(self._hands.pop(uid, set()))
        for hand in hands:
            hand.cancel()
        await asyncio.gather(*hands, return_exceptions=True)

    def _target(self, namespace: str, selector: dict[str, str], port: Object) -> tuple[str, int] | None:
        found: list[tuple[str, int]] = []
        for pod in self._store.list(POD, namespace):
            if not ready(pod) or not selector.items() <= (pod["metadata"].get("labels") or {}).items():
                continue
            wanted = port.get("targetPort") or port["port"]
            numbers = (port_of(each, wanted) for each in pod["spec"]["containers"])
            found += [(pod["status"]["podIP"], number) for number in numbers if number is not None][:1]
        return found[next(self._turn) % len(found)] if found else None

    async def _hand_on(
        self, namespace: str, selector: dict[str, str], port: Object, reader: Reader, writer: Writer
    ) -> None:
        target = self._target(namespace, selector, port)
        with contextlib.suppress(OSError):
            if target is not None:
                there, back = await asyncio.open_connection(*target)
                await asyncio.gather(_pump(reader, back), _pump(there, writer))


async def _pump(reader: Reader, writer: Writer) -> None:
    """Copy until the end of either side, then say so to the other."""
    try:
        while data := await reader.read(CHUNK):
            writer.write(data)
            await writer.drain()
    except OSError:
        pass
    finally:
        with contextlib.suppress(OSError, RuntimeError):
            writer.close()
