"""What people drop into a text: uploads, and the HTML of a text, in which they have signed addresses for a minute."""

import re
import uuid

from markdown_it import MarkdownIt
from starlette.requests import Request
from starlette.responses import Response

from github.emulator.blobs import signature
from github.emulator.hub import Hub

LIFETIME_SECONDS = 60
_markdown = MarkdownIt("gfm-like", {"html": True, "linkify": False})
_SOURCE = re.compile(r'(<img\b[^>]*?\bsrc=")([^"]*)(")')


def uploaded(hub: Hub, content: bytes) -> str:
    """Keep an upload: the address that stands in texts. It is for people who are signed in, as a private one's is."""
    name = str(uuid.uuid4())
    file = hub.store.folder / "attachments" / name
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(content)
    return f"{hub.store.origins.web}/user-attachments/assets/{name}"


def html_of(hub: Hub, text: str | None) -> str:
    """A text as `body_html`: uploads at signed addresses, all other images behind a proxy, which fetches none here."""
    web = hub.store.origins.web

    def placed(found: re.Match[str]) -> str:
        before, source, after = found.groups()
        name = source.removeprefix(f"{web}/user-attachments/assets/")
        if name != source:
            return f"{before}{_signed(hub, name)}{after}"
        return f'{before}{web}/_camo/{source.encode().hex()}{after} data-canonical-src="{source}"'

    return _SOURCE.sub(placed, _markdown.render(text or ""))


def _signed(hub: Hub, name: str) -> str:
    path, expires = f"/private-user-images/{name}", int(hub.store.now().timestamp()) + LIFETIME_SECONDS
    return f"{hub.store.origins.web}{path}?se={expires}&amp;sig={signature(hub, path, expires)}"


def serve(hub: Hub, request: Request) -> Response:
    """An upload at its signed address; 404 for a wrong or old one."""
    expires, name = request.query_params.get("se", ""), request.path_params["name"]
    known = expires.isdigit() and request.query_params.get("sig") == signature(hub, request.url.path, int(expires))
    file = hub.store.folder / "attachments" / str(name)
    if not known or int(expires) < hub.store.now().timestamp() or not file.is_file():
        return Response("Not Found", 404)
    return Response(file.read_bytes(), media_type="application/octet-stream")
