"""What the demo shows on the terminal while the loop runs."""

import time
from typing import Any

from rich.console import Console
from rich.markup import escape

from loops.sessions.explanations import in_a_line
from loops.store.tables import Session

MARKS = {
    "status": "·",
    "checks": "⚙",
    "published": "⬆",
    "pull_request": "⇄",
    "session_ended": "■",
    "turn_reported": "·",
}


class Progress:
    """Lines as things happen, on stderr; with `quiet` none of them, so that stdout and stderr stay for the result."""

    def __init__(self, *, quiet: bool) -> None:
        self._console = Console(stderr=True, quiet=quiet, highlight=False, soft_wrap=True)
        self._began = time.monotonic()

    def step(self, text: str) -> None:
        self._line("[bold green]✓[/]", escape(text))

    def note(self, text: str) -> None:
        self._line("[yellow]![/]", escape(text))

    def session(self, session: Session) -> None:
        if session.completed_at is None:
            self.step(f"Session {session.public_id}: {session.title}")

    def event(self, kind: str, payload: dict[str, Any]) -> None:
        """One line for an event; the agent's own words are dimmed."""
        text = str(payload.get("text") or payload.get("message") or "").strip()
        if kind == "session_ended":
            text = " ".join(str(payload[key]).replace("_", " ") for key in ("status", "outcome") if payload.get(key))
            text += f": {_ended(payload)}" if payload.get("reason") else ""
        if not text:
            return
        first, *rest = text.splitlines()
        shown = escape(first[:150]) + (f" [dim](+{len(rest)} lines)[/]" if rest else "")
        if kind in MARKS:
            self._line(f"[cyan]{MARKS[kind]}[/]", shown)
        else:
            self._line("[dim]│[/]", f"[dim]{shown}[/]")

    def finish(self, result: dict[str, Any], comment: str) -> None:
        """The end, and where to look."""
        pull = result.get("pull_request") or {}
        green = result["outcome"] == "green"
        colour = "green" if green else "red"
        reason = f": {_ended(result)}" if result.get("reason") else ""
        self._console.print()
        self._console.print(f"[bold {colour}]{escape(str(result['outcome']))}{escape(reason)}[/]")
        for note in result.get("notes") or []:
            self._console.print(f"  {escape(note)}")
        moved = "moved!" if result.get("default_branch_moved") else "has not moved"
        self._console.print(
            f"  attempts       {result['attempts']}, commits {sum(bool(t['commit']) for t in result['turns'])}"
        )
        self._console.print(f"  default branch {moved}")
        if pull:
            self._console.print(f"  pull request   {pull['url']}")
        if comment:
            self._console.print(f"  comment        {comment}")
        if result.get("session"):
            self._console.print(f"  session        {result.get('url')}")

    def _line(self, mark: str, text: str) -> None:
        self._console.print(f"[dim]{time.monotonic() - self._began:6.1f}s[/] {mark} {text}")


def _ended(payload: dict[str, Any]) -> str:
    """Why it ended, for people."""
    reason, stopped = str(payload["reason"]), "cancelled" in (payload.get("status"), payload.get("outcome"))
    return reason if stopped else in_a_line(reason)
