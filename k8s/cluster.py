"""A thin JSON client of the Kubernetes API on the official asyncio client: one shared connection pool, timeouts always.

The official client gives configuration (kubeconfig, service account, token refresh, exec plugins), TLS and the pool.
Objects stay plain JSON: typed models would break on fields of a newer server and cost a second copy of each event.
"""

import asyncio
import json
import ssl
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any, Self

Object = dict[str, Any]

CONNECT_SECONDS = 5.0
REQUEST_SECONDS = 15.0
# How long beyond its own time limit a watch may stay silent before its connection counts as dead.
WATCH_MARGIN_SECONDS = 15.0
# A server that has nothing to tell sends a bookmark about once a minute; a connection without one is cut off somewhere.
WATCH_SILENCE_SECONDS = 100.0
# Credentials of a kubeconfig's program live for 10 minutes or more; more often it is not asked again.
RENEW_SECONDS = 60.0
STRICT = {"fieldValidation": "Strict"}

PLURALS = {
    "Pod": ("/api/v1", "pods"),
    "PersistentVolumeClaim": ("/api/v1", "persistentvolumeclaims"),
    "Secret": ("/api/v1", "secrets"),
    "ConfigMap": ("/api/v1", "configmaps"),
    "NetworkPolicy": ("/apis/networking.k8s.io/v1", "networkpolicies"),
}


class ClusterError(Exception):
    """The API server refused: `status` is its HTTP status, `reason` Kubernetes' word (NotFound, AlreadyExists, …)."""

    def __init__(self, status: int, reason: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.reason = reason
        self.message = message


class ClusterUnreachable(Exception):
    """No answer, or one that only says the server is unwell: nothing follows about any box."""


class Cluster:
    """One namespace of one cluster. Methods raise ClusterError for a refusal, ClusterUnreachable for no answer."""

    def __init__(self, api: Any, namespace: str, log_in: Callable[[], Awaitable[Any]]) -> None:
        """`api` is a client made by `log_in`, which makes another when the credentials of this one have expired."""
        self._api = api
        self._log_in = log_in
        self._refused: Any = None
        self._renewing = asyncio.Lock()
        self._renewed_at = -RENEW_SECONDS
        self.namespace = namespace

    @classmethod
    async def connect(cls, namespace: str, *, kubeconfig: Path | None = None) -> Self:
        """Connect by `kubeconfig`, else by the pod's service account, else by the usual kubeconfig.

        The import stands here because it takes seconds and 100 MB: only workers with boxes on Kubernetes pay it.
        Raises ValueError where there is none that can be used.
        """
        from kubernetes.aio import client
        from kubernetes.aio import config as untyped

        config: Any = untyped

        async def log_in() -> Any:
            configuration = client.Configuration()
            if kubeconfig is not None:
                await config.load_kube_config(config_file=str(kubeconfig), client_configuration=configuration)
            else:
                try:
                    config.load_incluster_config(client_configuration=configuration)
                except config.ConfigException:
                    await config.load_kube_config(client_configuration=configuration)
            configuration.retries = 0
            # The cluster's own authority is all we trust; those of old clusters lack what Python 3.13 asks of one.
            configuration.disable_strict_ssl_verification = True
            return client.ApiClient(configuration)

        try:
            return cls(await log_in(), namespace, log_in)
        except config.ConfigException as error:
            raise ValueError(f"no way to a cluster by {kubeconfig or 'the usual kubeconfig'}: {error}") from error

    async def close(self) -> None:
        await self._api.close()
        if self._refused is not None:
            await self._refused.close()

    async def create(self, body: Object, *, dry: bool = False) -> Object:
        """Create; unknown fields are refused, where a server by itself would drop them silently. `dry`: only as if."""
        query = STRICT | ({"dryRun": "All"} if dry else {})
        return await self._json("POST", self._path(body["kind"]), query=query, body=body)

    async def get(self, kind: str, name: str) -> Object | None:
        """The object as the server has it now; None if there is none."""
        try:
            return await self._json("GET", self._path(kind, name))
        except ClusterError as error:
            if error.status == 404:
                return None
            raise

    async def list(self, kind: str, labels: str) -> tuple[list[Object], str]:
        """All objects that match the label selector, and the resourceVersion from which a watch goes on."""
        items: list[Object] = []
        query = {"labelSelector": labels, "limit": "500"}
        while True:
            page = await self._json("GET", self._path(kind), query=query)
            items += [_typed(kind, item) for item in page.get("items") or []]
            metadata = page["metadata"]
            if not metadata.get("continue"):
                return items, str(metadata["resourceVersion"])
            query["continue"] = metadata["continue"]

    async def patch(self, kind: str, name: str, body: Object) -> Object:
        """Merge `body` (RFC 7386); a `metadata.resourceVersion` in it makes a 409 of somebody else's change."""
        media = "application/merge-patch+json"
        return await self._json("PATCH", self._path(kind, name), query=STRICT, body=body, media=media)

    async def delete(
        self, kind: str, name: str, *, uid: str | None = None, version: str | None = None, grace: int | None = None
    ) -> bool:
        """Delete; False if it was gone already. With `uid` or `version` only that very object (409 otherwise)."""
        preconditions = {key: value for key, value in (("uid", uid), ("resourceVersion", version)) if value is not None}
        body: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if preconditions:
            body["preconditions"] = preconditions
        if grace is not None:
            body["gracePeriodSeconds"] = grace
        try:
            await self._json("DELETE", self._path(kind, name), body=body)
        except ClusterError as error:
            if error.status == 404:
                return False
            raise
        return True

    async def watch(self, kind: str, labels: str, version: str, seconds: float) -> AsyncIterator[tuple[str, Object]]:
        """Yield (type, object) of each change after `version` for about `seconds`; the server ends it.

        Types are ADDED, MODIFIED, DELETED and BOOKMARK. Raises ClusterError 410 when `version` is too old.
        """
        query = {
            "labelSelector": labels,
            "watch": "true",
            "allowWatchBookmarks": "true",
            "resourceVersion": version,
            "timeoutSeconds": str(max(1, int(seconds))),
        }
        response = await self._request(
            "GET", self._path(kind), query=query, seconds=seconds + WATCH_MARGIN_SECONDS, silence=WATCH_SILENCE_SECONDS
        )
        try:
            with _outages():
                async for line in response.content:
                    event = json.loads(line)
                    if event["type"] == "ERROR":
                        raise _refusal(int(event["object"].get("code", 500)), event["object"])
                    yield event["type"], _typed(kind, event["object"])
        finally:
            response.close()

    async def review(self, verb: str, group: str, resource: str, name: str = "") -> bool:
        """Whether our credentials allow `verb` on `resource` in this namespace, or on the one of that name there.

        It is asked as a SelfSubjectAccessReview.
        """
        body = {
            "apiVersion": "authorization.k8s.io/v1",
            "kind": "SelfSubjectAccessReview",
            "spec": {
                "resourceAttributes": {
                    "namespace": self.namespace,
                    "verb": verb,
                    "group": group,
                    "resource": resource,
                    "name": name,
                }
            },
        }
        answer = await self._json("POST", "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", body=body)
        return bool((answer.get("status") or {}).get("allowed"))

    def _path(self, kind: str, name: str | None = None) -> str:
        group, plural = PLURALS[kind]
        path = f"{group}/namespaces/{self.namespace}/{plural}"
        return path if name is None else f"{path}/{name}"

    async def _json(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Object | None = None,
        media: str = "application/json",
    ) -> Object:
        response = await self._request(method, path, query=query, body=body, media=media)
        with _outages():
            answer: Object = json.loads(await response.read())
        return answer

    async def _request(
        self,
        method: str,
        path: str,
        *,
        query: dict[str, str] | None = None,
        body: Object | None = None,
        media: str = "application/json",
        seconds: float = REQUEST_SECONDS,
        silence: float | None = None,
    ) -> Any:
        import aiohttp

        api, timeout = self._api, aiohttp.ClientTimeout(total=seconds, sock_connect=CONNECT_SECONDS, sock_read=silence)
        with _outages():
            _, url, headers, sent, _ = await api.param_serialize(
                method,
                path,
                query_params=list((query or {}).items()),
                header_params={"Accept": "application/json", "Content-Type": media},
                body=body,
                auth_settings=["BearerToken"],
            )
            answer = await api.call_api(method, url, headers, body=sent, _request_timeout=timeout)
            response = answer.response
            if response.status < 400:
                return response
            text = await response.text()
        if response.status == 401 and await self._renewed(api):
            return await self._request(
                method, path, query=query, body=body, media=media, seconds=seconds, silence=silence
            )
        try:
            status = json.loads(text)
        except ValueError:
            status = {"message": text[:500]}
        if response.status >= 500 or response.status == 429:
            raise ClusterUnreachable(f"{method} {path}: {response.status} {status.get('message', '')}")
        raise _refusal(response.status, status)

    async def _renewed(self, refused: Any) -> bool:
        """Whether there is a client with fresh credentials in place of the one that was refused."""
        async with self._renewing:
            if self._api is not refused:
                return True
            if time.monotonic() - self._renewed_at < RENEW_SECONDS:
                return False
            self._renewed_at = time.monotonic()
            try:
                self._api = await self._log_in()
            except Exception as error:
                # whatever a kubeconfig's program may raise
                raise ClusterUnreachable(f"the credentials cannot be renewed: {error}") from error
            # What is under way with the old one may end; there is more than a request's time until the next.
            older, self._refused = self._refused, refused
            if older is not None:
                await older.close()
            return True


def _refusal(status: int, body: Object) -> ClusterError:
    return ClusterError(status, str(body.get("reason") or ""), str(body.get("message") or f"HTTP {status}"))


def _typed(kind: str, item: Object) -> Object:
    # Items of a list carry no kind.
    return {"kind": kind, **item}


class _outages:
    """Turns everything a lost connection raises into ClusterUnreachable. Handshake errors surface as aiohttp's."""

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, _: object) -> None:
        import aiohttp

        if isinstance(error, aiohttp.ClientError | TimeoutError | OSError | ssl.SSLError):
            raise ClusterUnreachable(f"the API server does not answer: {type(error).__name__}: {error}") from error
