"""Runs `greenloop demo --json` as a person would, with repositories and agents of the test's own."""

import json
import os
import shlex
import subprocess
import sys
import textwrap
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.workflows import workflow


@dataclass(frozen=True)
class Ended:
    """How a demo ended: its exit code and the object on the last line of stdout."""

    code: int
    result: dict[str, Any]
    stderr: str


def git(folder: Path, *arguments: str) -> str:
    """Run git in `folder` as a person with a name."""
    identity = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    done = subprocess.run(["git", *identity, *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


def repository(folder: Path, files: dict[str, str], *, branch: str = "main", run: str | None = None) -> Path:
    """A Git repository with one commit; with `run`, a workflow that runs it."""
    folder.mkdir(parents=True)
    if run is not None:
        files = {**files, ".github/workflows/ci.yml": workflow(run)}
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    git(folder, "init", "-q", "-b", branch)
    if files:
        git(folder, "add", "-A")
        git(folder, "commit", "-q", "-m", "First")
    return folder


HEAD = "import os, pathlib, subprocess, sys, time\nprompt = sys.stdin.read()\n"


def agent(folder: Path, code: str) -> str:
    """The command of an agent that is this Python code; `prompt` is what it was asked."""
    path = folder / "agent.py"
    path.write_text(HEAD + textwrap.dedent(code))
    return f"{sys.executable} {path}"


def agent_of_pods(code: str) -> str:
    """The same, in a container of its own: it sees no folder of the test."""
    return shlex.join(["python3", "-c", HEAD + textwrap.dedent(code)])


def start(*arguments: str, env: dict[str, str] | None = None) -> "subprocess.Popen[str]":
    """The demo in the background."""
    return subprocess.Popen(
        [sys.executable, "-m", "app", "demo", "--json", *arguments],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **(env or {})},
    )


def finish(process: "subprocess.Popen[str]", seconds: float = 240) -> Ended:
    """Wait for its end."""
    try:
        out, err = process.communicate(timeout=seconds)
    except subprocess.TimeoutExpired:
        process.terminate()
        try:
            out, err = process.communicate(timeout=30)
        except subprocess.TimeoutExpired:
            process.kill()
            out, err = process.communicate()
        raise AssertionError(f"the demo did not end in {seconds} s:\n{out[-2000:]}\n{err[-4000:]}") from None
    last = out.strip().splitlines()[-1] if out.strip() else "{}"
    return Ended(process.returncode, json.loads(last), err)


def run(*arguments: str, env: dict[str, str] | None = None, seconds: float = 240) -> Ended:
    return finish(start(*arguments, env=env), seconds)


def children(process: "subprocess.Popen[str]", word: str) -> list[int]:
    """The demo's own child processes that have `word` among their arguments."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            parent = int((entry / "stat").read_text().rpartition(")")[2].split()[1])
            words = (entry / "cmdline").read_bytes().split(b"\0")
        except (OSError, ValueError):
            continue
        if parent == process.pid and word.encode() in words:
            found.append(int(entry.name))
    return found
