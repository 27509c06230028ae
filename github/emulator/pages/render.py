"""Templates, Markdown, diffs and logs as HTML."""

import re
from datetime import datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markdown_it import MarkdownIt
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse

# texts of people are shown with their HTML, as on GitHub; this keeps it from doing anything
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; frame-ancestors 'none'"
_STAMP = re.compile(r"^(\d{4}-\d\d-\d\dT[\d:.]+Z) (.*)$")
_ANSI = re.compile(r"\x1b\[[0-9;]*m")
_markdown = MarkdownIt("gfm-like", {"html": True, "linkify": False})


def markdown(text: str | None) -> Markup:
    """A body of a person, without its hidden comments."""
    shown = re.sub(r"<!--.*?-->", "", text or "", flags=re.DOTALL)
    return Markup(_markdown.render(shown))  # noqa: S704 (the policy above makes it harmless)


def coloured(diff: str | None) -> Markup:
    """A patch with its lines coloured."""
    kinds = {"+": "add", "-": "del", "@": "hunk"}
    lines = [
        Markup('<span class="{}">{}</span>').format(kinds.get(line[:1], ""), line) for line in (diff or "").split("\n")
    ]
    return Markup("\n").join(lines)


def log(content: bytes | None) -> Markup:
    """A job's log with its groups to fold."""
    if content is None:
        return escape("There is no log (yet).")
    out = []
    for line in content.decode(errors="replace").removeprefix("\ufeff").splitlines():
        found = _STAMP.match(line)
        text = _ANSI.sub("", found[2] if found else line)
        if text.startswith("##[group]"):
            out.append(Markup("<details><summary>{}</summary>").format(text.removeprefix("##[group]")))
        elif text == "##[endgroup]":
            out.append(Markup("</details>"))
        elif text.startswith("##[error]"):
            out.append(Markup('<span class="del">{}</span>\n').format(text.removeprefix("##[error]")))
        else:
            out.append(Markup("{}\n").format(text))
    return Markup("").join(out)


def ago(moment: datetime | None) -> str:
    return "" if moment is None else moment.strftime("%H:%M:%S")


_environment = Environment(
    loader=FileSystemLoader(Path(__file__).with_name("templates")),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_environment.filters.update({"markdown": markdown, "coloured": coloured, "log": log, "ago": ago})


def page(name: str, status: int = 200, leaves: bool = False, **values: Any) -> HTMLResponse:
    """A page from the template of that name. `leaves`: its form may lead to another site."""
    policy = _POLICY if leaves else f"{_POLICY}; form-action 'self'"
    html = _environment.get_template(f"{name}.html").render(**values)
    return HTMLResponse(html, status, headers={"content-security-policy": policy})
