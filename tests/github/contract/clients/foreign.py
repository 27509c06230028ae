"""Runs programs that use clients nobody here wrote. `.ci/clients` installs those into `.tools/clients`."""

import contextlib
import json
import os
import subprocess
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.github.contract.exchange import Json
from tests.github.contract.local import LocalTarget
from tests.github.contract.target import Target
from tests.tools import missing

HERE = Path(__file__).parent
FOLDER = Path(__file__).parents[4] / ".tools" / "clients"
SECONDS = 120


def command(program: str, folder: Path) -> list[str]:
    """How a program of this folder is started. Without its client the test is skipped by name, or fails in CI."""
    if not (FOLDER / "done").exists():
        missing(f"this test needs the clients that .ci/clients installs: {program}")
    if program.endswith(".py"):
        return [str(FOLDER / "python" / "bin" / "python"), str(HERE / program)]
    # node looks for packages beside the file it runs
    (folder / program).write_text((HERE / program).read_text())
    (folder / "node_modules").symlink_to(FOLDER / "node_modules")
    return ["node", str(folder / program)]


def environment(**more: str) -> dict[str, str]:
    """Ours without what would lead a client elsewhere."""
    dropped = ("GITHUB_", "GH_", "GHE_", "HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy", "NODE_OPTIONS")
    return {name: value for name, value in os.environ.items() if not name.startswith(dropped)} | more


def app_of(target: Target) -> Json:
    """What a client needs to be the App. LookupError where the target's App is not ours."""
    if not isinstance(target, LocalTarget):
        raise LookupError("the key of the App")
    app = target.local.app
    return {"id": app.id, "key": app.private_key, "now": int(target.local.hub.clock.now().timestamp())}


def flow(program: str, target: Target, caller: str, folder: Path) -> Json:
    """What the program saw at the target, as the App or by a token. Its branch and pull request end with it."""
    task: Json = {
        "api": target.api_url,
        "repository": target.repository,
        "branch": f"{target.prefix}{program.partition('_')[0]}-{uuid.uuid4().hex[:6]}",
        "file": "contract.txt",
        "pace": 1 if target.real else 0,
    }
    task |= {"app": app_of(target)} if caller == "app" else {"token": target.tokens[caller]}
    ended = subprocess.run(
        command(program, folder),
        input=json.dumps(task),
        env=environment(),
        cwd=folder,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )
    assert ended.returncode == 0, ended.stderr[-3000:] + ended.stdout[-1000:]
    seen: Json = json.loads(ended.stdout.splitlines()[-1])
    return seen


@contextlib.contextmanager
def serving(program: str, task: dict[str, Any], folder: Path) -> Iterator[int]:
    """The port at which a program serves while the block runs."""
    with (folder / "errors").open("w") as errors:
        process = subprocess.Popen(
            command(program, folder),
            env=environment(TASK=json.dumps(task)),
            cwd=folder,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
    try:
        assert process.stdout is not None
        line = process.stdout.readline().strip()
        assert line.isdigit(), line + (folder / "errors").read_text()[-3000:]
        yield int(line)
    finally:
        process.terminate()
        process.communicate(timeout=30)


def callers(target: Target) -> list[str]:
    """As whom a client can be tried: the App where its key is at hand, else by whatever token there is."""
    return ["app", "person"] if isinstance(target, LocalTarget) else list(target.tokens)


def skip_unless(target: Target, caller: str) -> None:
    if caller not in callers(target):
        pytest.skip(f"no credentials of this kind are given: {caller}")
