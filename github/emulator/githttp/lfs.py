"""Git LFS: the batch API beside git, with the objects on the second origin.

https://github.com/git-lfs/git-lfs/blob/main/docs/api/batch.md
"""

import re
from datetime import timedelta
from typing import Any

from starlette.requests import Request
from starlette.responses import JSONResponse, Response

from github.emulator import blobs
from github.emulator.clock import iso
from github.emulator.errors import Refusal
from github.emulator.githttp.server import GitHttp
from github.emulator.hub import Hub
from github.emulator.store.repositories import Repository

MEDIA = "application/vnd.git-lfs+json"
MAX_OBJECTS = 100
_OID = re.compile(r"[0-9a-f]{64}")
_DOCS = "https://docs.github.com/repositories/working-with-files/managing-large-files"
Json = dict[str, Any]


def _answer(body: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return JSONResponse(body, status, headers, media_type=MEDIA)


def _refused(refusal: Refusal) -> Response:
    headers = dict(refusal.headers)
    if "www-authenticate" in headers:
        headers["lfs-authenticate"] = headers["www-authenticate"]
    return _answer({"message": refusal.message, "documentation_url": _DOCS}, refusal.status, headers)


class Lfs:
    """The batch endpoint of every repository; only the transfer `basic`, as on GitHub."""

    def __init__(self, hub: Hub, git: GitHttp) -> None:
        self._hub, self._git = hub, git

    async def batch(self, request: Request) -> Response:
        """Where to put or get objects."""
        try:
            if MEDIA not in request.headers.get("accept", ""):
                raise Refusal(406, f"Accept must be {MEDIA}")
            body = await request.json()
            operation = body.get("operation")
            if operation not in ("upload", "download"):
                raise Refusal(422, f"unknown operation {operation!r}")
            _, repository = self._git.let_in(request, push=operation == "upload")
            wanted = body.get("objects")
            if not isinstance(wanted, list) or not wanted:
                raise Refusal(422, "objects are missing")
            if len(wanted) > MAX_OBJECTS:
                raise Refusal(413, f"at most {MAX_OBJECTS} objects a request")
        except ValueError:
            return _refused(Refusal(422, "the body is no JSON object"))
        except Refusal as refusal:
            return _refused(refusal)
        credential = request.headers.get("authorization", "")
        shown = [self._object(repository, operation, item, credential) for item in wanted]
        return _answer({"transfer": "basic", "objects": shown, "hash_algo": "sha256"})

    async def verify(self, request: Request) -> Response:
        """An upload is complete: only now the object counts as being here."""
        try:
            if MEDIA not in request.headers.get("accept", ""):
                raise Refusal(406, f"Accept must be {MEDIA}")
            item = await request.json()
            _, repository = self._git.let_in(request, push=True)
            oid, size = item.get("oid"), item.get("size")
            if not isinstance(oid, str) or not _OID.fullmatch(oid):
                raise Refusal(422, "Invalid object")
            file = blobs.file_of(self._hub.store, blobs.lfs_path(repository, oid))
            uploaded = blobs.unverified(file)
            if not file.is_file() and not uploaded.is_file():
                raise Refusal(404, "Object does not exist on the server")
            if (file if file.is_file() else uploaded).stat().st_size != size:
                raise Refusal(422, "Invalid object size")
        except ValueError:
            return _refused(Refusal(422, "the body is no JSON object"))
        except Refusal as refusal:
            return _refused(refusal)
        if uploaded.is_file():
            uploaded.rename(file)
        return _answer({})

    def _object(self, repository: Repository, operation: str, item: Json, credential: str) -> Json:
        oid, size = item.get("oid"), item.get("size")
        row: Json = {"oid": oid, "size": size}
        if not isinstance(oid, str) or not _OID.fullmatch(oid) or not isinstance(size, int) or size < 0:
            return row | {"error": {"code": 422, "message": "Invalid object"}}
        path = blobs.lfs_path(repository, oid)
        there = blobs.file_of(self._hub.store, path).is_file()
        if operation == "download" and not there:
            return row | {"error": {"code": 404, "message": "Object does not exist on the server"}}
        row["authenticated"] = True
        if operation == "upload" and there:
            return row
        expires = iso(self._hub.store.now() + timedelta(seconds=blobs.LIFETIME_SECONDS))
        action: Json = {"href": blobs.signed_url(self._hub, path), "expires_at": expires}
        if operation == "upload":
            action["header"] = {"x-amz-content-sha256": oid}
            href = f"{self._hub.store.origins.web}/{repository.full_name}.git/info/lfs/verify"
            verify: Json = {"href": href, "header": {"Authorization": credential}}
            return row | {"actions": {operation: action, "verify": verify}}
        return row | {"actions": {operation: action}}
