"""What a box keeps on its volume: enough to go on after a `kill -9` of any of its processes.

    {home}/runner/lock               held by the one runner of this box; its process id
    {home}/runner/repos/{id}.lock    held while a store is used
    {home}/runner/conversations/     what agents need to go on with a conversation, by its path in a home
    {home}/runner/turns/{turn}/      one turn, until its result is acknowledged:
        lock        held by the process that reports the turn
        token       the turn's own token, which its agent must not see
        box         held by all that runs behind the walls of a local box
        turn.json   the turn without token, environment, stdin and file contents
        supervisor  held by the process that keeps the agent; its process id. Here once the agent may have started
        pid         the agent: process id and start time
        stdout, stderr
        cancel      why the service asked for the end
        made.json   what setting the box up left in the checkout, with a `trial.json` of the check before the agent
        work.json   what was told of the work so far
        result.json what the agent came to, while that is verified
        ended.json  how the agent ended
        git.{pid}/  objects made from the working tree, by the process that looked at it
    {home}/given/                    what an agent may read:
        repos/{id}  objects fetched from one repository (`git.object_store`)
        turn/       evidence and conversation of the turn that is about to begin
    {home}/agent/                    the agent's own: its home, new for each turn, and caches (`supervisor.fresh_home`)

Only `agent` is written by agents. A lock is the kernel's (flock): it ends with its holder, however that ends.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

from . import protocol
from .protocol import AssignedTurn


class Held(Exception):
    """Somebody else holds the lock."""


def lock(path: Path, *, wait: bool = False) -> int:
    """Take a lock: a descriptor that holds it until closed, here and in every process forked since. Raises `Held`."""
    while True:
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
            # whoever held it before may have removed the file
            if os.path.samestat(os.fstat(descriptor), path.stat()):
                return descriptor
        except BlockingIOError:
            os.close(descriptor)
            raise Held(str(path)) from None
        except FileNotFoundError:
            pass
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)
        if not path.parent.is_dir():
            raise FileNotFoundError(path)


def held(path: Path) -> bool:
    """Whether somebody holds this lock now."""
    try:
        descriptor = os.open(path, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(descriptor)
    return False


def sign(descriptor: int, pid: int | None = None) -> None:
    """Write our process id (or `pid`) into the lock that we hold."""
    os.ftruncate(descriptor, 0)
    os.pwrite(descriptor, str(pid or os.getpid()).encode(), 0)


def signed(path: Path) -> int | None:
    """The process id in a lock file."""
    try:
        return int(path.read_text())
    except (OSError, ValueError):
        return None


def write_atomically(path: Path, text: str) -> None:
    """All of `text`, lasting, or nothing."""
    draft = path.with_name(path.name + ".new")
    with draft.open("w", encoding="utf-8") as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    draft.replace(path)


def remove_tree(path: Path) -> None:
    """Delete what is there, read-only directories too; links are not followed, and nothing there is fine. Raises
    OSError."""
    if path.is_symlink() or not path.is_dir():
        with contextlib.suppress(FileNotFoundError, NotADirectoryError):
            path.unlink()
        return
    with contextlib.suppress(RecursionError):
        shutil.rmtree(path, ignore_errors=True)
    if path.exists():
        # folders in folders, thousands deep, are too much for the library, and closed ones for `rm`
        for command in (["chmod", "-R", "u+rwX"], ["rm", "-rf"]):
            subprocess.run([*command, "--", str(path)], stderr=subprocess.DEVNULL, check=False)
        if path.exists():
            shutil.rmtree(path)


class Home:
    """A box's volume."""

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self.root = self.path / "runner"
        self.given = self.path / "given"
        self.agent = self.path / "agent"
        self.turns = self.root / "turns"
        self.locks = self.root / "repos"
        self.conversations = self.root / "conversations"
        self.repos = self.given / "repos"
        self.turn_given = self.given / "turn"

    def make(self) -> None:
        """Make our own directories: the runner's closed to others, what it gives readable."""
        self.path.mkdir(parents=True, exist_ok=True)
        for folder in (self.root, self.turns, self.locks, self.conversations, self.agent):
            folder.mkdir(mode=0o700, exist_ok=True)
        for folder in (self.given, self.repos):
            folder.mkdir(mode=0o755, exist_ok=True)

    def turn_states(self) -> list[TurnState]:
        """The turns found here, oldest first. Those that somebody else forgets meanwhile are not among them."""
        found = []
        for path in self.turns.iterdir() if self.turns.is_dir() else ():
            if protocol.TURN_PATTERN.fullmatch(path.name):
                with contextlib.suppress(FileNotFoundError):
                    found.append((path.stat().st_mtime, path.name))
        return [TurnState(self, name) for _, name in sorted(found)]


class TurnState:
    """What is on disk of one turn."""

    def __init__(self, home: Home, turn: str) -> None:
        self.home = home
        self.id = turn
        self.path = home.turns / turn
        self.stdout = self.path / "stdout"
        self.stderr = self.path / "stderr"
        self.supervisor = self.path / "supervisor"
        self.box = self.path / "box"

    def make(self, turn: AssignedTurn) -> None:
        """Write down a turn that is about to begin."""
        files = [replace(file, content="") for file in turn.files]
        quiet = replace(turn, token="", env={}, stdin="", files=files)
        write_atomically(self.path / "token", turn.token)
        write_atomically(self.path / "turn.json", json.dumps(protocol.to_json(quiet)))

    def turn(self) -> AssignedTurn | None:
        """The turn as far as it was written down; None when it did not come to that."""
        try:
            return protocol.turn_from_json(json.loads((self.path / "turn.json").read_text()))
        except (OSError, ValueError):
            return None

    def token(self) -> str:
        """The turn's own token; empty where it got none, or none was written down."""
        try:
            return (self.path / "token").read_text()
        except OSError:
            return ""

    def note_agent(self, pid: int, start: int) -> None:
        """Remember the agent's process."""
        write_atomically(self.path / "pid", json.dumps([pid, start]))

    def agent(self) -> tuple[int, int] | None:
        """The agent's process id and start time."""
        try:
            pid, start = json.loads((self.path / "pid").read_text())
            return int(pid), int(start)
        except (OSError, ValueError, TypeError):
            return None

    def note_cancel(self, reason: str) -> None:
        """Remember that, and why, the service asked for the end."""
        write_atomically(self.path / "cancel", reason)

    def cancel(self) -> str | None:
        """Why the service asked for the end."""
        try:
            return (self.path / "cancel").read_text()
        except OSError:
            return None

    def note_end(self, end: dict[str, Any]) -> None:
        """Remember how the agent ended."""
        write_atomically(self.path / "ended.json", json.dumps(end))

    def end(self) -> dict[str, Any] | None:
        """How the agent ended; None when its supervisor did not live to say so."""
        try:
            end = json.loads((self.path / "ended.json").read_text())
        except (OSError, ValueError):
            return None
        return end if isinstance(end, dict) else None

    def note(self, name: str, what: Any) -> None:
        """Keep `what` with the turn."""
        write_atomically(self.path / f"{name}.json", json.dumps(what))

    def noted(self, name: str) -> Any:
        """What was kept by that name; None where nothing was."""
        try:
            return json.loads((self.path / f"{name}.json").read_text())
        except (OSError, ValueError):
            return None

    def remove(self) -> None:
        """Forget the turn."""
        # renamed first: a directory that is half deleted is not taken for a turn
        gone = self.path.with_name(f".{self.id}.gone")
        remove_tree(gone)
        with contextlib.suppress(FileNotFoundError):
            self.path.rename(gone)
        remove_tree(gone)
