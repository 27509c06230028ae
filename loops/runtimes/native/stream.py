"""The output of our own agent: it prints our events, so there is little to translate."""

import re
from typing import Final, get_args

from loops.runtimes.base import JSON, EventKind, RuntimeEvent
from loops.runtimes.lines import LineParser, event
from loops.runtimes.native.failures import FAILURES
from loops.runtimes.plan import items_of, plan

_KINDS: Final[dict[str, EventKind]] = {kind: kind for kind in get_args(EventKind)}

_REFUSED = re.compile(r"The model's API answered (\d{3})(?: \(([^()]{1,100})\))?: ")


class NativeParser(LineParser):
    """Lines of `{"kind": …}`: our events, and at the end `result`."""

    who = "The native runtime"
    signs = FAILURES

    def _events(self, data: JSON) -> list[RuntimeEvent]:
        return [self._event(data)]

    def _event(self, data: JSON) -> RuntimeEvent:
        memory = self._memory
        kind = data.pop("kind")
        if kind == "result":
            memory.limit = "steps" if data["limit"] == "steps" else None
            memory.answered = bool(data["text"])
            memory.answer = data["text"] or memory.answer
            return event("status", text="finished", changed_files=data["changed_files"], diff=data["diff"])
        if kind == "plan":
            return plan(items_of(data["items"], "text", "state"))
        if kind == "session":
            memory.session = str(data["id"])
        elif kind == "error":
            memory.failure = str(data["message"])
            memory.fault = _fault(memory.failure)
        elif kind == "assistant_completed":
            memory.answer = str(data["text"])
        return event(_KINDS[kind], **data)


def _fault(message: str) -> JSON:
    """What is known of a failure beside its sentence."""
    told = _REFUSED.match(message)
    return {"status": int(told.group(1)), "code": told.group(2) or ""} if told is not None else {}
