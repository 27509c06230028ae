"""The second origin: logs and LFS objects, behind signed URLs that live a minute and take no `Authorization`."""

import hashlib
import hmac
from pathlib import Path

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from github.emulator.hub import Hub
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store

LIFETIME_SECONDS = 60


def signature(hub: Hub, path: str, expires: int) -> str:
    """What makes an address good until `expires`, in UNIX seconds."""
    return hmac.new(hub.log_key, f"{path}\n{expires}".encode(), hashlib.sha256).hexdigest()


def signed_url(hub: Hub, path: str) -> str:
    """A URL of the blob at `path` (`/jobs/1.txt`, `/runs/1/2.zip`) that holds for a minute."""
    expires = int(hub.store.now().timestamp()) + LIFETIME_SECONDS
    return f"{hub.store.origins.logs}{path}?se={expires}&sig={signature(hub, path, expires)}"


def _problem(status: int, code: str, message: str) -> Response:
    body = f'\ufeff<?xml version="1.0" encoding="utf-8"?><Error><Code>{code}</Code><Message>{message}</Message></Error>'
    return Response(body, status, headers={"x-ms-error-code": code}, media_type="application/xml")


def application(hub: Hub) -> Starlette:
    """The app of the second port."""

    async def blob(request: Request) -> Response:
        if "authorization" in request.headers:
            message = "Authentication information is not given in the correct format. Check the value of Authorization"
            return _problem(400, "InvalidAuthenticationInfo", f"{message} header.")
        path, expires = request.url.path, request.query_params.get("se", "")
        known = expires.isdigit() and hmac.compare_digest(
            request.query_params.get("sig", "").encode(), signature(hub, path, int(expires)).encode()
        )
        if not known or int(expires) < hub.store.now().timestamp():
            return _problem(403, "AuthenticationFailed", "Server failed to authenticate the request.")
        if path.startswith("/lfs/"):
            return await _lfs(hub, request, path)
        content = None if hub.faults.log_missing(path) else hub.ci.logs.blob(path)
        if content is None:
            return _problem(404, "BlobNotFound", "The specified blob does not exist.")
        media = "application/zip" if path.endswith(".zip") else "text/plain; charset=utf-8"
        return Response(content, media_type=media)

    return Starlette(routes=[Route("/{path:path}", blob, methods=["GET", "PUT"])])


def lfs_path(repository: Repository, oid: str) -> str:
    return f"/lfs/{repository.id}/{oid}"


def file_of(store: Store, path: str) -> Path:
    """Where an LFS object is kept, if it is here."""
    return store.folder / path.lstrip("/")


def unverified(file: Path) -> Path:
    """Where an LFS object waits for the word that it is complete."""
    return file.with_suffix(".unverified")


async def _lfs(hub: Hub, request: Request, path: str) -> Response:
    """Take or give an object; what does not have the hash that it is named by is refused."""
    file = file_of(hub.store, path)
    if request.method == "GET":
        if not file.is_file():
            return _problem(404, "BlobNotFound", "The specified blob does not exist.")
        return Response(file.read_bytes(), media_type="application/octet-stream")
    content = await request.body()
    digest = hashlib.sha256(content).hexdigest()
    if digest != file.name or request.headers.get("x-amz-content-sha256") != file.name:
        return _problem(400, "XAmzContentSHA256Mismatch", "The provided 'x-amz-content-sha256' does not match.")
    file.parent.mkdir(parents=True, exist_ok=True)
    unverified(file).write_bytes(content)
    return Response(status_code=200)
