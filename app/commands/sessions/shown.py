"""Sessions as a shell shows them: for people on a terminal, and plainly elsewhere."""

import os
import sys
import time
from typing import Any

import typer

from loops.operations import Brief, Happened, Shown

_COLOURS = {"completed": "green", "failed": "red", "cancelled": "yellow", "running": "cyan", "waiting": "cyan"}


def terminal() -> bool:
    """Whether a person reads what is printed."""
    return sys.stdout.isatty()


def visible(text: str) -> str:
    """What agents and repositories wrote, without what a terminal would obey."""
    return "".join(each for each in text if each in "\n\t" or each.isprintable())


def state_of(found: Brief) -> str:
    """A session in a line."""
    return f"{found.session} {_status(found.status)}" + "".join(f", {each}" for each in (_end(found),) if each)


def row_of(found: Brief) -> str:
    """A session in a list."""
    at = time.strftime("%Y-%m-%d %H:%M", time.localtime(found.created_at))
    status = _status(f"{found.status:<9}")
    return f"{found.session}  {at}  {status}  {_end(found):<22}  {found.repository}  {visible(found.title[:60])}"


def page_of(found: Shown) -> str:
    """All of a session but its events."""
    use = found.usage
    why = found.explanation
    lines = [
        state_of(found),
        *([f"why          {why.what}", f"next         {why.next}"] if why else []),
        *([f"operator     {why.operator}"] if why and why.operator else []),
        f"repository   {found.repository}",
        f"asked        {found.title}" + (f" (as {found.person})" if found.person else ""),
        f"branch       {found.branch or '-'} from {found.base_branch or 'the default branch'}",
        f"pull request {found.pull_request or '-'}",
        f"turns        {use.turns}, {use.input_tokens + use.output_tokens} tokens, ${use.cost:.2f}",
        f"tokens       {use.input_tokens} in ({use.cached_tokens} cached), "
        f"{use.output_tokens} out ({use.reasoning_tokens} of reasoning)",
        f"stored       {found.stored_bytes:,} bytes",
        *(f"note         {note}" for note in found.notes),
    ]
    if found.changed_files:
        lines.append("changed      " + ", ".join(_name(each) for each in found.changed_files))
    if found.summary:
        lines += ["", found.summary]
    return "\n".join([lines[0], *map(visible, lines[1:])])


def line_of(event: Happened) -> str:
    """An event in a line, or in as many as its text has."""
    payload = event.payload
    text = payload.get("text") or payload.get("name") or payload.get("reason") or ""
    return visible(f"{event.kind:<20} {text}".rstrip())


def _status(text: str) -> str:
    colour = _COLOURS.get(text.strip())
    return typer.style(text, fg=colour) if colour and terminal() and not os.environ.get("NO_COLOR") else text


def _end(found: Brief) -> str:
    """How it ended, in a few words."""
    return found.explanation.title if found.explanation else (found.outcome or found.reason or "").replace("_", " ")


def _name(changed: Any) -> str:
    return str(changed.get("path", "")) if isinstance(changed, dict) else str(changed)
