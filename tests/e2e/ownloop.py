"""An agent that prints what our own loop prints (`k8s.native`), so that a test says what was used, said and edited."""

import sys
from pathlib import Path

HEAD = """
import json
def tell(kind, **payload):
    print(json.dumps({"kind": kind, **payload}), flush=True)
def used(steps=1, tokens=0, cost=None):
    tell("usage", steps=steps, input=tokens, cached=0, output=0, cost=cost)
def edited(*names):
    for name in names:
        pathlib.Path(name).write_text("right")
        tell("file_edit", path=os.path.abspath(name), change="add", bytes=5)
def done(text="Done."):
    tell("result", text=text, limit=None, changed_files=[], diff="")
def too_long():
    time.sleep(60)
def failed(message):
    tell("error", message=message, final=True)
    sys.exit(message)
"""


def install(folder: Path, agent: Path) -> None:
    """A program by the name of our own loop in `folder` (for PATH), which runs `agent`."""
    folder.mkdir()
    wrapper = folder / "greenloop-native"
    wrapper.write_text(f'#!/bin/sh\nexec {sys.executable} {agent} "$@"\n')
    wrapper.chmod(0o755)
