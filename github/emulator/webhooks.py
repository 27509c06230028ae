"""Delivery: sign, post, write down what came back. One try each, ten seconds, in no promised order."""

import asyncio
import hashlib
import hmac
import json
import time
import uuid
from collections import deque
from collections.abc import Callable
from typing import Any
from urllib.parse import urlencode

import httpx
import structlog

from github.emulator.faults import Faults
from github.emulator.options import EmulatorOptions
from github.emulator.store.apps import App
from github.emulator.store.deliveries import Delivery
from github.emulator.store.store import Store

log = structlog.get_logger(__name__)

MAX_PAYLOAD = 25 * 1024 * 1024
# sees (event, action, payload) of every webhook
HookObserver = Callable[[str, str | None, dict[str, Any]], None]


class HookEngine:
    """Posts webhooks from the server's loop. What is sent before `start` waits for it."""

    def __init__(self, store: Store, faults: Faults, options: EmulatorOptions) -> None:
        self.observers: list[HookObserver] = []
        self._store, self._faults, self._options = store, faults, options
        self._agent = f"GitHub-Hookshot/{uuid.uuid4().hex[:7]}"
        self._waiting: deque[Delivery] = deque()
        self._held: list[Delivery] = []
        self._tasks: set[asyncio.Task[None]] = set()
        self._client: httpx.AsyncClient | None = None

    async def start(self) -> None:
        limits = httpx.Limits(max_connections=50, max_keepalive_connections=10)
        self._client = httpx.AsyncClient(timeout=self._options.hook_timeout, limits=limits, trust_env=False)
        while self._waiting:
            self._post_soon(self._waiting.popleft())

    async def stop(self) -> None:
        client, self._client = self._client, None  # what is sent from now on waits
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if client is not None:
            await client.aclose()

    @property
    def busy(self) -> bool:
        return bool(self._tasks)

    def send(
        self,
        app: App,
        event: str,
        action: str | None,
        payload: dict[str, Any],
        installation_id: int | None,
        repository_id: int | None,
    ) -> None:
        """Put one event on its way to an App, unless its webhook is off."""
        for observer in self.observers:
            observer(event, action, payload)
        if not app.hook.active or not app.hook.url:
            return
        delivery = self._delivery(app, event, action, payload, installation_id, repository_id)
        if len(delivery.body) > MAX_PAYLOAD:
            return
        faults = self._faults.for_hook(event, action)
        kinds = {fault.kind for fault in faults}
        if "drop" in kinds:
            delivery.status = "failed to connect to host"
            self._store.deliveries.add(delivery)
            return
        delay = sum(fault.seconds for fault in faults if fault.kind == "delay")
        if "reorder" in kinds:
            self._held.append(delivery)
            self._post_soon(delivery, held=True)
            return
        for _ in range(2 if "duplicate" in kinds else 1):
            self._post_soon(delivery, delay)
        if self._held:
            self._held.clear()

    def redeliver(self, old: Delivery) -> Delivery:
        """Post an event again: the same GUID, its own line in the log."""
        new = self._delivery(old.app, old.event, old.action, old.payload, old.installation_id, old.repository_id)
        new.guid = old.guid
        new.headers["X-GitHub-Delivery"] = old.guid
        new.redelivery = True
        self._store.deliveries.add(new)
        self._post_soon(new)
        return new

    def _delivery(
        self,
        app: App,
        event: str,
        action: str | None,
        payload: dict[str, Any],
        installation_id: int | None,
        repository_id: int | None,
    ) -> Delivery:
        guid = str(uuid.uuid4())
        body = json.dumps(payload, separators=(",", ":"), ensure_ascii=False).encode()
        if app.hook.content_type == "form":
            body = urlencode({"payload": body.decode()}).encode()
        return Delivery(
            id=self._store.deliveries.new_id(),
            app=app,
            guid=guid,
            event=event,
            action=action,
            payload=payload,
            body=body,
            headers=self._headers(app, event, guid, body),
            url=app.hook.url,
            delivered_at=self._store.now(),
            installation_id=installation_id,
            repository_id=repository_id,
        )

    def _headers(self, app: App, event: str, guid: str, body: bytes) -> dict[str, str]:
        form = app.hook.content_type == "form"
        headers = {
            "Accept": "*/*",
            "Content-Type": "application/x-www-form-urlencoded" if form else "application/json",
            "User-Agent": self._agent,
            "X-GitHub-Delivery": guid,
            "X-GitHub-Event": event,
            "X-GitHub-Hook-ID": str(app.hook.id),
            "X-GitHub-Hook-Installation-Target-ID": str(app.id),
            "X-GitHub-Hook-Installation-Target-Type": "integration",
        }
        if self._options.enterprise:
            headers["X-GitHub-Enterprise-Host"] = self._store.origins.web.partition("://")[2]
            headers["X-GitHub-Enterprise-Version"] = "3.20.0"
        if app.hook.secret:
            key = app.hook.secret.encode()
            headers["X-Hub-Signature"] = "sha1=" + hmac.new(key, body, hashlib.sha1).hexdigest()
            headers["X-Hub-Signature-256"] = "sha256=" + hmac.new(key, body, hashlib.sha256).hexdigest()
        return headers

    def _post_soon(self, delivery: Delivery, delay: float = 0.0, held: bool = False) -> None:
        if self._client is None:
            self._waiting.append(delivery)
            return
        task = asyncio.get_running_loop().create_task(self._post(self._client, delivery, delay, held))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _post(self, client: httpx.AsyncClient, delivery: Delivery, delay: float, held: bool) -> None:
        if held:
            await self._until_overtaken(delivery)
        if delay:
            await asyncio.sleep(delay)
        self._store.deliveries.add(delivery)
        started = time.monotonic()
        try:
            answer = await client.post(delivery.url, content=delivery.body, headers=delivery.headers)
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            delivery.status = "timed out" if isinstance(error, httpx.TimeoutException) else "failed to connect to host"
            delivery.status_code = 504 if isinstance(error, httpx.TimeoutException) else 502
        else:
            delivery.status_code = answer.status_code
            delivery.status = "OK" if answer.is_success else f"Invalid HTTP Response: {answer.status_code}"
            delivery.response_headers = dict(answer.headers)
            delivery.response_body = answer.text[:65_536]
        delivery.duration = round(time.monotonic() - started, 2)
        log.debug("hook.delivered", hook_event=delivery.event, action=delivery.action, status=delivery.status)

    async def _until_overtaken(self, delivery: Delivery) -> None:
        """Wait until a later event has gone first; half a second is long enough to wait for one."""
        deadline = time.monotonic() + 0.5
        while delivery in self._held and time.monotonic() < deadline:
            await asyncio.sleep(0.01)
        if delivery in self._held:
            self._held.remove(delivery)
        else:
            await asyncio.sleep(0.02)
