"""Our own agent loop (k8s/native): it prints our events, so there is little to translate."""

from collections.abc import Mapping
from typing import get_args

from loops.runtimes.base import (
    JSON,
    BoxFile,
    EventKind,
    Invocation,
    RuntimeEvent,
    TurnRequest,
    executable,
)
from loops.runtimes.lines import LineParser, Memory, event

KEY = "GREENLOOP_MODEL_KEY"
_KINDS: dict[str, EventKind] = {kind: kind for kind in get_args(EventKind)}


class NativeRuntime:
    """For teams that have only an endpoint: chat completions, or Anthropic's protocol for the provider `anthropic`."""

    name = "native"

    def command(self, turn: TurnRequest) -> Invocation:
        """Raises ValueError without a model or an API key."""
        if turn.credential.kind != "api_key":
            raise ValueError(f'The "native" runtime needs an API key, not {turn.credential.kind!r}.')
        if not turn.model:
            raise ValueError('The "native" runtime needs a model: set it on the profile or in the request.')
        argv = [*executable(turn, "greenloop-native"), "--provider", turn.provider or "openai", "--model", turn.model]
        argv += ["--conversations", f"{{home}}/.greenloop/agents/{turn.session}/native", "--readable", "{turn_dir}"]
        if turn.base_url:
            argv += ["--base-url", turn.base_url]
        if turn.max_steps is not None:
            argv += ["--max-steps", str(turn.max_steps)]
        if turn.read_only:
            argv.append("--read-only")
        if turn.resume:
            argv += ["--resume", turn.resume.id]
        return Invocation(tuple(argv), dict(turn.env), {KEY: turn.credential.secret}, stdin=turn.prompt)

    def files(self, turn: TurnRequest) -> tuple[BoxFile, ...]:
        """None: the key goes by the environment, which the loop keeps from its commands."""
        return ()

    def parser(self, state: JSON | None = None, *, totals: Mapping[str, float] | None = None) -> "NativeParser":
        """It counts each step, so `totals` are of no use to it."""
        return NativeParser(Memory.of(state, None))


class NativeParser(LineParser):
    """Lines of `{"kind": …}`: our events, and at the end `result`."""

    who = "The native runtime"

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
        if kind == "session":
            memory.session = str(data["id"])
        elif kind == "error":
            memory.failure = str(data["message"])
        elif kind == "assistant_completed":
            memory.answer = str(data["text"])
        return event(_KINDS[kind], **data)
