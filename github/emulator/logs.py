"""The second origin: where log blobs are, behind signed URLs that live a minute and take no `Authorization`."""

import hashlib
import hmac

from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from github.emulator.hub import Hub

LIFETIME_SECONDS = 60


def _signature(hub: Hub, path: str, expires: int) -> str:
    return hmac.new(hub.log_key, f"{path}\n{expires}".encode(), hashlib.sha256).hexdigest()


def signed_url(hub: Hub, path: str) -> str:
    """A URL of the blob at `path` (`/jobs/1.txt`, `/runs/1/2.zip`) that holds for a minute."""
    expires = int(hub.store.now().timestamp()) + LIFETIME_SECONDS
    return f"{hub.store.origins.logs}{path}?se={expires}&sig={_signature(hub, path, expires)}"


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
            request.query_params.get("sig", "").encode(), _signature(hub, path, int(expires)).encode()
        )
        if not known or int(expires) < hub.store.now().timestamp():
            return _problem(403, "AuthenticationFailed", "Server failed to authenticate the request.")
        content = None if hub.faults.log_missing(path) else hub.ci.logs.blob(path)
        if content is None:
            return _problem(404, "BlobNotFound", "The specified blob does not exist.")
        media = "application/zip" if path.endswith(".zip") else "text/plain; charset=utf-8"
        return Response(content, media_type=media)

    return Starlette(routes=[Route("/{path:path}", blob)])
