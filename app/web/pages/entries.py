"""The events of a session as blocks of its page. Pure."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import msgspec

from loops.checks.shown_evidence import red_checks
from loops.sessions.explanations import in_a_line
from loops.store.tables import Event

SHOWN = 4_000
"""Characters of a tool's input or output on the page."""

_MARKS = {"active": "▶", "done": "☑", "dropped": "☒"}


@dataclass
class Block:
    """One block. `key`: pieces of the same message have the same, and flow together; `whole`: it replaces them."""

    seq: int
    kind: str
    at: float
    title: str = ""
    text: str = ""
    key: str = ""
    whole: bool = False
    bad: bool = False
    folded: bool = False


def block(event: Event) -> Block:
    """How one event is shown. An unknown kind shows its text, else its payload."""
    payload = event.payload
    made = Block(event.seq, event.kind, event.at)
    match event.kind:
        case "assistant_delta" | "reasoning" | "assistant_completed":
            made.kind = "reasoning" if event.kind == "reasoning" else "says"
            made.text = _text(payload.get("text"))
            made.key = f"{event.turn_id}:{made.kind}:{payload.get('message_id') or ''}"
            made.whole = event.kind == "assistant_completed"
        case "tool_started":
            made.title = _text(payload.get("name")) or "tool"
            made.text = _clip(_text(payload.get("input")))
            made.folded = True
        case "tool_completed":
            made.bad = payload.get("ok") is False
            made.title = f"{_text(payload.get('name')) or 'tool'}{' failed' if made.bad else ': result'}"
            made.text = _clip(_text(payload.get("output")))
            made.folded = True
        case "file_edit":
            made.title = f"{_text(payload.get('change')) or 'edit'} {_text(payload.get('path'))}"
        case "command":
            code = payload.get("exit_code")
            made.title = f"$ {_text(payload.get('command'))}"
            made.text = "" if code is None else f"exit {code}"
            made.bad = code not in (None, 0)
        case "plan":
            made.title = "plan"
            made.text = _steps(payload.get("items"))
            made.key, made.whole = f"{event.turn_id}:plan", True
        case "error":
            made.bad = True
            made.text = _text(payload.get("message"))
        case "turn_reported":
            made.title = "turn over"
            made.text = _reported(payload)
        case "session_ended":
            made.text = _ended(payload)
        case "evidence":
            made.title = _text(payload.get("text"))
            made.text = "\n\n".join(f"{check.name}\n{check.excerpt}" for check in red_checks(payload))
            made.folded = made.bad = True
        case _:
            made.text = _text(payload.get("text")) if "text" in payload else _clip(_text(payload))
    return made


def blocks(events: Iterable[Event]) -> list[Block]:
    """Blocks in order, pieces of one message joined; a message that is there in whole takes the place of its pieces."""
    made: list[Block] = []
    for event in events:
        new = block(event)
        if new.whole:
            made = [old for old in made if old.key != new.key]
        elif new.key and made and made[-1].key == new.key and not made[-1].whole:
            made[-1].text += new.text
            made[-1].seq = new.seq
            continue
        made.append(new)
    return made


def _steps(items: object) -> str:
    steps = [each for each in items if isinstance(each, dict)] if isinstance(items, list) else []
    return "\n".join(f"{_MARKS.get(str(each.get('state')), '☐')} {_text(each.get('text'))}" for each in steps)


def _reported(payload: dict[str, Any]) -> str:
    reason = payload.get("reason")
    how = f"exit code {payload.get('exit_code')}" if reason == "exited" else _text(reason).replace("_", " ")
    return f"{how}. {_text(payload.get('text'))}".strip()


def _ended(payload: dict[str, Any]) -> str:
    reason, status = _text(payload.get("reason")), _text(payload.get("status"))
    how = in_a_line(reason) if reason and status == "failed" else reason or _text(payload.get("outcome"))
    return f"{status}: {how.replace('_', ' ')}" if how else status


def _text(value: object) -> str:
    if value is None:
        return ""
    return value if isinstance(value, str) else msgspec.json.format(msgspec.json.encode(value), indent=2).decode()


def _clip(text: str) -> str:
    return text if len(text) <= SHOWN else f"{text[:SHOWN]}\n… {len(text) - SHOWN} more characters"
