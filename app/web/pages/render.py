"""Templates, and the headers that every page is sent with."""

import hashlib
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse

from app.web.pages import words

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"

HEADERS = {
    # nothing from elsewhere, no inline script: text from repositories and agents is shown here
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; "
        "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    # same-origin: with no-referrer a browser names no origin when it sends a form
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cache-control": "no-store",
}

_templates = Environment(
    loader=FileSystemLoader(FOLDER / "templates"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_templates.filters |= {
    "clock": words.clock,
    "count": words.count,
    "iso": words.iso,
    "moment": words.moment,
    "span": words.span,
}
# whoever is signed in; a page that knows them says so
_templates.globals["who"] = ""
_templates.globals["version"] = hashlib.sha256(
    b"".join(file.read_bytes() for file in sorted(STATIC.iterdir()))
).hexdigest()[:12]


def html(template: str, **values: Any) -> str:
    """The text of a template, everything in it escaped."""
    return _templates.get_template(template).render(**values)


def page(template: str, status: int = 200, *, who: str = "", **values: Any) -> HTMLResponse:
    """A page; `who` is the login of whoever is signed in."""
    return HTMLResponse(html(template, who=who, **values), status, headers=HEADERS)
