"""The files and the environment of a turn: what an agent is given, and what of it comes back."""

from __future__ import annotations

import contextlib
import hashlib
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from . import agent_files, protocol
from .processes import process_tree
from .protocol import AssignedTurn, FileBack, ProtocolError, TurnFile
from .state import Home, TurnState, remove_tree

# what an agent may need of the runner's own environment: to find programs, to reach the network, to show text
PASSED_ON = (
    "PATH", "LANG", "LC_ALL", "LC_CTYPE", "TZ", "TMPDIR",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO", "CURL_CA_BUNDLE",
    "HTTP_PROXY", "HTTPS_PROXY", "NO_PROXY", "ALL_PROXY",
    "http_proxy", "https_proxy", "no_proxy", "all_proxy",
)  # fmt: skip
ALSO_PASSED_ON = "GREENLOOP_AGENT_ENV"
"""Names, with commas between them, of what else an operator gives to agents."""
DEFAULT_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
LARGEST_BACK = 1_000_000
LARGEST_CONVERSATION = 256 * 1024 * 1024
"""Bytes of the largest file of a conversation that is kept; one that has a larger one is begun anew."""

OURS = ".greenloop"
"""The folder of a home in which nothing is an agent's checkout."""


class Places:
    """Where a turn's `{home}`, `{workdir}` and `{turn_dir}` are."""

    def __init__(self, home: Home, turn: AssignedTurn) -> None:
        self.home = home.agent / "home"
        self.turn_dir = self.home / OURS / "turn"
        self.workdir = inside(self.home, turn.workdir, "workdir")
        if self.workdir == self.home or self.home / OURS in (self.workdir, *self.workdir.parents):
            raise ProtocolError(f"workdir {turn.workdir!r} is the home itself or in {OURS}")

    def fill(self, text: str) -> str:
        """`text` with the three placeholders replaced, and nothing else touched."""
        for name, path in (("{home}", self.home), ("{workdir}", self.workdir), ("{turn_dir}", self.turn_dir)):
            text = text.replace(name, str(path))
        return text

    def fill_prompt(self, text: str, marker: str) -> str:
        """`text` with `{turn_dir:MARKER}` replaced: words of others cannot hold a marker that nobody has told them."""
        return text.replace(f"{{turn_dir:{marker}}}", str(self.turn_dir))

    def within_home(self, file: TurnFile) -> str:
        """Where a file of the turn is, below the home. Raises `ProtocolError`."""
        return str(inside(self.home, self.fill(file.path), "file").relative_to(self.home))

    def hidden(self, turn: AssignedTurn) -> frozenset[bytes]:
        """Those of the turn's files that stand in the checkout: no part of a change. Raises `ProtocolError`."""
        workdir = f"{self.workdir.relative_to(self.home)}/"
        paths = (self.within_home(file) for file in turn.files)
        return frozenset(os.fsencode(path[len(workdir) :]) for path in paths if path.startswith(workdir))


def inside(root: Path, path: str, what: str) -> Path:
    """`path`, relative to `root` or absolute, made absolute. Raises `ProtocolError` when it is not within `root`."""
    whole = Path(os.path.normpath(root / path))
    if not path or "\0" in path or (whole != root and root not in whole.parents):
        raise ProtocolError(f"{what} {path!r} is not within {root}")
    return whole


def environment(places: Places, turn: AssignedTurn, base: Mapping[str, str]) -> dict[str, str]:
    """The agent's environment: little of ours (`base`), the turn's own, and the marker."""
    user = base.get("USER") or base.get("LOGNAME") or "greenloop"
    env = {"PATH": DEFAULT_PATH, "LANG": "C.UTF-8", "TERM": "dumb", "USER": user, "LOGNAME": user, "SHELL": "/bin/sh"}
    also = base.get(ALSO_PASSED_ON, "").split(",")
    env.update({name: base[name] for name in (*PASSED_ON, *also) if base.get(name)})
    env["HOME"] = str(places.home)
    env["PWD"] = str(places.workdir)
    env.update({name: places.fill(value) for name, value in turn.env.items()})
    env[process_tree.MARKER_NAME] = turn.marker
    return env


def _digest_path(state: TurnState, index: int) -> Path:
    return state.path / f"given.{index}"


def to_put(places: Places, state: TurnState, turn: AssignedTurn) -> list[dict[str, Any]]:
    """The turn's files as a supervisor writes them. Raises `ProtocolError`, OSError."""
    found = []
    for index, file in enumerate(turn.files):
        content = protocol.decode(file.content, f"the content of {file.path}")
        _digest_path(state, index).write_text(hashlib.sha256(content).hexdigest())
        found.append({"path": places.within_home(file), "content": file.content, "mode": file.mode})
    return found


def read_back(home: Home, places: Places, state: TurnState, turn: AssignedTurn) -> list[FileBack]:
    """The `read_back` files that the agent has changed, refreshed credentials for one."""
    found = []
    for index, file in enumerate(turn.files):
        if not file.read_back:
            continue
        content = agent_files.read(home.agent, f"home/{places.within_home(file)}", LARGEST_BACK)
        if content is None:
            continue
        with contextlib.suppress(OSError):
            given = _digest_path(state, index).read_text()
            if len(content) <= LARGEST_BACK and hashlib.sha256(content).hexdigest() != given:
                found.append(FileBack(path=file.path, content=protocol.encode(content)))
    return found


def give_conversation(home: Home, turn: AssignedTurn) -> None:
    """Lay out what is kept of the turn's conversation, for the supervisor to put in place. Raises OSError."""
    for path in agent_files.matching(home.conversations, turn.conversation):
        spot = home.turn_given / "conversation" / path
        spot.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(home.conversations / path, spot)


def keep_conversation(home: Home, turn: AssignedTurn) -> None:
    """Take over what the agent needs to go on with the turn's conversation, in place of what was kept of it. Raises
    OSError."""
    contents: dict[str, bytes] = {}
    patterns = [f"home/{pattern}" for pattern in turn.conversation]
    for path in agent_files.matching(home.agent, patterns):
        content = agent_files.read(home.agent, path, LARGEST_CONVERSATION)
        if content is not None and len(content) <= LARGEST_CONVERSATION:
            contents[path.removeprefix("home/")] = content
    if not contents:
        return
    for path in list(agent_files.matching(home.conversations, turn.conversation)):
        (home.conversations / path).unlink()
    for path, content in contents.items():
        spot = home.conversations / path
        spot.parent.mkdir(parents=True, exist_ok=True)
        spot.write_bytes(content)


def forget_given(home: Home) -> None:
    """Delete what was given to a turn: evidence and conversation. Raises OSError."""
    remove_tree(home.turn_given)
