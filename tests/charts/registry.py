"""An OCI registry in memory, as far as helm pushes to one and pulls from it.

https://github.com/opencontainers/distribution-spec/blob/main/spec.md
"""

import contextlib
import hashlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import parse_qs, urlsplit


class Registry(ThreadingHTTPServer):
    """`manifests` by name and tag, or digest: media type and bytes; `blobs` by digest."""

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.blobs: dict[str, bytes] = {}
        self.manifests: dict[str, tuple[str, bytes]] = {}

    @property
    def address(self) -> str:
        return f"127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server: Registry

    def do_HEAD(self) -> None:
        self.do_GET()

    def do_GET(self) -> None:
        path = urlsplit(self.path).path
        kind, _, reference = path.rpartition("/")
        if kind.endswith("/blobs") and reference in self.server.blobs:
            self._answer(200, self.server.blobs[reference], {"Docker-Content-Digest": reference})
        elif path in self.server.manifests:
            media, content = self.server.manifests[path]
            self._answer(200, content, {"Docker-Content-Digest": _digest(content), "Content-Type": media})
        else:
            self._answer(200 if path == "/v2/" else 404)

    def do_POST(self) -> None:
        self._body()
        self._answer(202, b"", {"Location": f"{urlsplit(self.path).path}one"})

    def do_PUT(self) -> None:
        where, content = urlsplit(self.path), self._body()
        digest = _digest(content)
        if "/manifests/" in where.path:
            kept = (self.headers["Content-Type"], content)
            self.server.manifests[where.path] = kept
            self.server.manifests[f"{where.path.rpartition('/')[0]}/{digest}"] = kept
        elif parse_qs(where.query).get("digest") == [digest]:
            self.server.blobs[digest] = content
        else:
            self._answer(400)
            return
        self._answer(201, b"", {"Docker-Content-Digest": digest, "Location": where.path})

    def _body(self) -> bytes:
        return self.rfile.read(int(self.headers.get("Content-Length") or 0))

    def _answer(self, status: int, content: bytes = b"", fields: dict[str, str] | None = None) -> None:
        self.send_response(status)
        for name, value in {"Content-Length": str(len(content)), **(fields or {})}.items():
            self.send_header(name, value)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Say nothing."""


def _digest(content: bytes) -> str:
    return f"sha256:{hashlib.sha256(content).hexdigest()}"


@contextlib.contextmanager
def registry() -> Iterator[Registry]:
    with Registry() as served:
        thread = threading.Thread(target=served.serve_forever, daemon=True)
        thread.start()
        try:
            yield served
        finally:
            served.shutdown()
            thread.join()
