"""`python -P -m k8s.native`: the prompt on stdin, events as JSON lines on stdout, the checkout as working directory.

The key of the model is in GREENLOOP_MODEL_KEY. Exit 0 with an answer, 1 without, 130 when ended by a signal.
"""

import argparse
import asyncio
import json
import os
import signal
import sys
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pydantic_ai.messages import ModelMessage

KEY = "GREENLOOP_MODEL_KEY"
_MISSING = "The native runtime is not installed here: {} is missing. Install it with `pip install 'greenloop[native]'`."


def main() -> None:
    """The command line."""
    words = argparse.ArgumentParser(prog="greenloop-native", description="A small agent loop of Greenloop's own.")
    words.add_argument("--version", action="store_true", help="say which versions this is, and end")
    words.add_argument("--wire", choices=("chat", "responses", "messages"), default="chat", help="the model's protocol")
    words.add_argument("--model", default="")
    words.add_argument("--base-url")
    words.add_argument("--max-steps", type=int, default=32)
    words.add_argument("--image", type=Path, action="append", default=[], help="a file to show with the prompt")
    words.add_argument("--read-only", action="store_true")
    words.add_argument("--conversations", type=Path, help="the folder in which conversations are kept")
    words.add_argument("--resume", help="the id of a conversation to go on with")
    words.add_argument("--readable", type=Path, action="append", default=[], help="a folder outside that may be read")
    given = words.parse_args()
    try:
        code = version() if given.version else asyncio.run(_run(given, sys.stdin.read()))
    except ImportError as error:
        sys.exit(_MISSING.format(error.name or error))
    sys.exit(code)


def version() -> int:
    """Says the version of the library that runs the loop. Raises ImportError without it."""
    from importlib.metadata import version as installed

    print(f"greenloop-native, pydantic-ai {installed('pydantic-ai-slim')}")
    return 0


async def _run(given: argparse.Namespace, prompt: str) -> int:
    # Late, so that --help and a missing library are answered at once.
    from k8s.native import history
    from k8s.native.code_graph.graph import CodeGraph
    from k8s.native.images import read_images
    from k8s.native.loop import RunOptions, run
    from k8s.native.models import model_of
    from k8s.native.workspaces.local import LocalWorkspace

    key, lines = os.environ.get(KEY, ""), threading.Lock()

    def emit(kind: str, **payload: Any) -> None:
        with lines:
            print(json.dumps({"kind": kind, **payload}), flush=True)

    def fail(message: str) -> int:
        emit("error", message=message, final=True)
        print(message, file=sys.stderr)
        return 1

    if not key or not given.model:
        return fail(f"The native runtime needs --model and a key in {KEY}.")
    cancel = threading.Event()
    task = asyncio.current_task()

    def stop() -> None:
        cancel.set()
        if task:
            task.cancel()

    for number in (signal.SIGINT, signal.SIGTERM):
        asyncio.get_running_loop().add_signal_handler(number, stop)
    identity = given.resume or history.new_id()
    try:
        before = history.read(given.conversations, identity) if given.resume and given.conversations else []
    except history.UnknownConversationError as error:
        return fail(str(error))
    emit("session", id=identity)
    workspace = LocalWorkspace(Path.cwd(), readable=given.readable, hidden=(KEY,), cancel=cancel)
    graph = CodeGraph(Path(workspace.root), workspace.paths)
    options = RunOptions(
        prompt,
        images=read_images(given.image),
        history=before,
        max_steps=given.max_steps,
        read_only=given.read_only,
    )
    model = model_of(given.wire, given.model, given.base_url, key)

    def keep(messages: "Sequence[ModelMessage]") -> None:
        if given.conversations:
            history.write(given.conversations, identity, messages)

    try:
        result = await run(options, workspace, model, emit, graph=graph, keep=keep)
    except asyncio.CancelledError:
        fail("Ended by a signal.")
        # At once: a loop that closes takes its time, and has no handler for the next signal meanwhile.
        os._exit(130)
    finally:
        workspace.close()
        graph.close()
    if result.error:
        emit("result", text="", limit=result.limit, changed_files=result.changed_files, diff=result.diff)
        return fail(result.error)
    emit("result", text=result.text, limit=None, changed_files=result.changed_files, diff=result.diff)
    return 0


if __name__ == "__main__":
    main()
