"""Images of an issue: to the model of an agent that shows them, by way of the service."""

import base64
import json
import os
import sys
from pathlib import Path

import pytest

from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Reply, Shell
from loops.runtimes.scripted.server import ModelServer
from tests.e2e.house import house

PNG = b"\x89PNG\r\n\x1a\na screenshot"
SVG = b"<svg onload='alert(1)'/>"


async def test_a_model_sees_the_images_of_an_issue_and_nothing_else_that_it_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    steps = (Reply("", Shell("printf right > value.txt")), Reply("It is right now."))
    with ModelServer({"x": Script(*steps)}) as server:
        async with house(tmp_path, runtime="native") as home:
            await home.account(provider="scripted", base_url=server.base_url("x", "chat"), model="scripted-1")
            seen, drawn = home.local.upload(PNG), home.local.upload(SVG)
            body = f"It looks like this:\n\n![a]({seen})\n![b]({drawn})\n![c]({server.base_url('x', 'chat')}/secret)"
            number = await home.issue(body=body)
            await home.comment(number, "@greenloop make it right --runtime native")
            assert (await home.ended()).outcome == "green", await home.describe()
        sent = json.dumps(server.requests("x")[0].body)
    assert sent.count("data:image/") == 1 and base64.b64encode(PNG).decode() in sent
