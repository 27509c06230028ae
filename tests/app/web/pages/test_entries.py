from typing import Any

import pytest

from app.web.pages.entries import SHOWN, block, blocks
from loops.store.tables import Event


def event(seq: int, kind: str, **payload: Any) -> Event:
    return Event(session_id=1, seq=seq, turn_id=2, kind=kind, payload=payload, at=0.0)


def test_pieces_of_one_message_flow_together_and_the_whole_takes_their_place() -> None:
    pieces = [event(n, "assistant_delta", text=text, message_id="m") for n, text in enumerate(["Hel", "lo ", "you"], 1)]
    assert [(made.kind, made.text, made.seq) for made in blocks(pieces)] == [("says", "Hello you", 3)]
    whole = event(4, "assistant_completed", text="Hello, you", message_id="m")
    assert [(made.kind, made.text) for made in blocks([*pieces, whole])] == [("says", "Hello, you")]


def test_another_message_or_anything_between_begins_a_new_block() -> None:
    made = blocks(
        [
            event(1, "assistant_delta", text="a", message_id="m"),
            event(2, "assistant_delta", text="b", message_id="n"),
            event(3, "status", text="s"),
            event(4, "assistant_delta", text="c", message_id="n"),
        ]
    )
    assert [one.text for one in made] == ["a", "b", "s", "c"]


@pytest.mark.parametrize(
    ("kind", "payload", "title", "text", "bad"),
    [
        ("tool_started", {"name": "bash", "input": "ls"}, "bash", "ls", False),
        ("tool_completed", {"name": "bash", "output": "x" * (SHOWN + 9), "ok": False}, "bash failed", None, True),
        ("file_edit", {"change": "add", "path": "a.py", "bytes": 3}, "add a.py", "", False),
        (
            "plan",
            {"items": [{"text": "Look", "state": "done"}, {"text": "Mend", "state": "active"}, {"text": "Tell"}, 7]},
            "plan",
            "☑ Look\n▶ Mend\n☐ Tell",
            False,
        ),
        ("plan", {"items": "odd"}, "plan", "", False),
        ("command", {"command": "make", "exit_code": 2}, "$ make", "exit 2", True),
        ("command", {"command": "make", "exit_code": None}, "$ make", "", False),
        ("error", {"message": "no", "final": True}, "", "no", True),
        ("turn_reported", {"reason": "exited", "exit_code": 0, "text": ""}, "turn over", "exit code 0.", False),
        ("turn_reported", {"reason": "fetch_failed", "text": "no net"}, "turn over", "fetch failed. no net", False),
        ("checks", {"state": "red", "text": "two red"}, "", "two red", False),
        ("something_new", {"a": 1}, "", '{\n  "a": 1\n}', False),
    ],
)
def test_every_kind_of_event_is_shown(
    kind: str, payload: dict[str, Any], title: str, text: str | None, bad: bool
) -> None:
    made = block(event(1, kind, **payload))
    assert (made.title, made.bad) == (title, bad)
    if text is None:
        assert made.text.endswith("… 9 more characters")
    else:
        assert made.text == text


@pytest.mark.parametrize("kind", ["assistant_delta", "tool_started", "tool_completed", "file_edit", "command", "error"])
def test_an_event_without_its_fields_is_shown_all_the_same(kind: str) -> None:
    block(event(1, kind))
