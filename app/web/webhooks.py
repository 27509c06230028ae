"""POST /webhooks/github: what is acknowledged with 202 is on disk.

A plain ASGI application: this is the one place where microseconds count. Order matters: read within the cap, check the
signature on the raw bytes, and only then look at what they say.
"""

import asyncio
import re
import time
from collections.abc import Mapping

import msgspec
import structlog
from starlette.types import Receive, Scope, Send

from app.web.envelope import Envelope, NoJson, read, unwrap
from app.web.inbox import Inbox, InboxFailed, InboxFull
from app.web.metrics import Metrics
from github.webhooks.events import wanted
from github.webhooks.signature import verify
from loops.store.arrivals import Arrival

log = structlog.get_logger(__name__)

IN_A_THREAD = 1024 * 1024
"""Bytes from which hashing would hold up other requests (25 MB take some 25 ms)."""
READ_SECONDS = 30.0
HELD_BYTES = 64 * 1024 * 1024
"""Bodies that one process holds in memory at once; beyond, 503."""

_HEADER = re.compile(rb"[!-~]{1,100}")


class DeliveryRefused(Exception):
    """The request ends here with this status."""

    def __init__(self, status: int, error: str) -> None:
        super().__init__(error)
        self.status = status


class Receiver:
    """The ASGI application of the webhook route."""

    def __init__(self, secrets: list[bytes], inbox: Inbox, metrics: Metrics, *, body_limit: int) -> None:
        if not secrets or not all(secrets):
            raise ValueError(
                "no webhook secret: without one anybody could send us events. Set GREENLOOP_WEBHOOK_SECRETS, or "
                "GREENLOOP_WEBHOOK_SECRETS_FILE, to the secret in the GitHub App's settings."
            )
        self._secrets = secrets
        self._inbox = inbox
        self._limit = body_limit
        self._held = 0
        self._count = {
            status: metrics.webhooks.labels(name)
            for status, name in (
                (202, "stored"), (200, "ignored"), (400, "bad_request"), (401, "bad_signature"),
                (405, "bad_method"), (408, "too_slow"), (413, "too_large"), (503, "unavailable"),
            )
        }  # fmt: skip

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        headers = dict(scope["headers"])
        try:
            if scope["method"] != "POST":
                raise DeliveryRefused(405, "webhooks are sent with POST")
            status, answer = await self._handle(headers, receive)
        except DeliveryRefused as refusal:
            status, answer = refusal.status, {"error": str(refusal)}
            log.info("webhook.refused", status=status, error=str(refusal), guid=_shown(headers, b"x-github-delivery"))
        except ConnectionError:
            return
        self._count[status].inc()
        body = msgspec.json.encode(answer)
        fields = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
        if status in (408, 413):
            fields.append((b"connection", b"close"))  # the rest of the body is not read
        if status == 503:
            fields.append((b"retry-after", b"5"))
        await send({"type": "http.response.start", "status": status, "headers": fields})
        await send({"type": "http.response.body", "body": body})

    async def _handle(self, headers: Mapping[bytes, bytes], receive: Receive) -> tuple[int, dict[str, str]]:
        declared = headers.get(b"content-length", b"0")
        if len(declared) > 18 or not declared.isdigit() or int(declared) > self._limit:
            raise DeliveryRefused(413, f"the body is declared as {_text(declared)} bytes; {self._limit} are allowed")
        message = await receive()
        if message["type"] == "http.disconnect":
            raise ConnectionError
        body: bytes = message.get("body", b"")
        more: bool = message.get("more_body", False)
        held = len(body)
        self._held += held
        try:
            if more:
                parts = bytearray(body)
                try:
                    async with asyncio.timeout(READ_SECONDS):
                        while more:
                            message = await receive()
                            if message["type"] == "http.disconnect":
                                raise ConnectionError
                            part = message.get("body", b"")
                            parts += part
                            held += len(part)
                            self._held += len(part)
                            self._check(held)
                            more = message.get("more_body", False)
                except TimeoutError:
                    raise DeliveryRefused(408, f"the body did not arrive within {READ_SECONDS:.0f} s") from None
                body = bytes(parts)
            self._check(held)
            return await self._decide(headers, body)
        finally:
            self._held -= held

    def _check(self, length: int) -> None:
        if length > self._limit:
            raise DeliveryRefused(413, f"the body is longer than {self._limit} bytes")
        if self._held > HELD_BYTES:
            raise DeliveryRefused(503, "too many large bodies at once: try again")

    async def _decide(self, headers: Mapping[bytes, bytes], body: bytes) -> tuple[int, dict[str, str]]:
        signature = headers.get(b"x-hub-signature-256")
        large = len(body) > IN_A_THREAD
        if not (
            await asyncio.to_thread(verify, self._secrets, body, signature)
            if large
            else verify(self._secrets, body, signature)
        ):
            said = "is missing" if signature is None else "does not fit the body"
            raise DeliveryRefused(401, f"X-Hub-Signature-256 {said}: compare the webhook secret here and at GitHub")
        event, guid = _required(headers, b"x-github-event"), _required(headers, b"x-github-delivery")
        content_type = headers.get(b"content-type", b"")
        try:
            if large:
                body, envelope = await asyncio.to_thread(_open, body, content_type)
            else:
                body, envelope = _open(body, content_type)
        except NoJson as error:
            raise DeliveryRefused(
                400, f"signed, but {error}. Nothing was stored; GitHub can deliver {guid} again"
            ) from error
        if not wanted(event, envelope.action):
            name = event if envelope.action is None else f"{event}.{envelope.action[:100]}"
            return 200, {"delivery": guid, "decision": "ignored", "reason": f"nothing here acts on {name}"}
        arrival = Arrival(
            guid, event, envelope.action, envelope.installation_id, envelope.repository_id, body, time.time()
        )
        try:
            await self._inbox.put(arrival)
        except (InboxFull, InboxFailed) as error:
            raise DeliveryRefused(503, f"delivery {guid} was not stored: {error}") from error
        return 202, {"delivery": guid, "decision": "stored"}


def _open(body: bytes, content_type: bytes) -> tuple[bytes, Envelope]:
    body = unwrap(body, content_type)
    return body, read(body)


def _required(headers: Mapping[bytes, bytes], name: bytes) -> str:
    value = headers.get(name, b"")
    if not _HEADER.fullmatch(value):
        raise DeliveryRefused(400, f"the header {_text(name)} is {'missing' if not value else 'not what GitHub sends'}")
    return value.decode()


def _shown(headers: Mapping[bytes, bytes], name: bytes) -> str:
    return _text(headers.get(name, b"")[:100])


def _text(value: bytes) -> str:
    return value.decode("ascii", "backslashreplace")
