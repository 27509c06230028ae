"""The files and the environment of a turn: put in place before the agent starts, taken away after it has ended."""

from __future__ import annotations

import contextlib
import hashlib
import os
import stat
from collections.abc import Mapping
from pathlib import Path

from . import protocol
from .processes import process_tree
from .protocol import AssignedTurn, FileBack, ProtocolError, TurnFile
from .state import Home, TurnState

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


class Places:
    """Where a turn's `{home}`, `{workdir}` and `{turn_dir}` are."""

    def __init__(self, home: Home, state: TurnState, turn: AssignedTurn) -> None:
        self.home = home.path
        self.turn_dir = state.files
        self.workdir = inside(home.path, turn.workdir, "workdir")
        if self.workdir == self.home or home.root in (self.workdir, *self.workdir.parents):
            raise ProtocolError(f"workdir {turn.workdir!r} is the home itself or the runner's own directory")

    def fill(self, text: str) -> str:
        """`text` with the three placeholders replaced, and nothing else touched."""
        for name, path in (("{home}", self.home), ("{workdir}", self.workdir), ("{turn_dir}", self.turn_dir)):
            text = text.replace(name, str(path))
        return text

    def fill_prompt(self, text: str, marker: str) -> str:
        """`text` with `{turn_dir:MARKER}` replaced: words of others cannot hold a marker that nobody has told them."""
        return text.replace(f"{{turn_dir:{marker}}}", str(self.turn_dir))


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


def _spot(places: Places, file: TurnFile) -> Path:
    return inside(places.home, places.fill(file.path), "file")


def spots(places: Places, turn: AssignedTurn) -> list[Path]:
    """Where the turn's files are. Raises `ProtocolError`."""
    return [_spot(places, file) for file in turn.files]


def _digest_path(state: TurnState, index: int) -> Path:
    return state.path / f"given.{index}"


def make_folders(home: Path, folder: Path) -> None:
    """Make the directories down to `folder`, closed to others. Raises `ProtocolError` if a link leads out of `home`."""
    here = home
    for part in folder.relative_to(home).parts:
        here = here / part
        with contextlib.suppress(FileExistsError):
            here.mkdir(mode=0o700)
    real = folder.resolve()
    if real != home and home not in real.parents:
        raise ProtocolError(f"{folder} leads out of the home, to {real}")


def put(places: Places, state: TurnState, turn: AssignedTurn) -> None:
    """Write the turn's files. Raises `ProtocolError`, OSError."""
    for index, file in enumerate(turn.files):
        spot = _spot(places, file)
        make_folders(places.home, spot.parent)
        content = protocol.decode(file.content, f"the content of {file.path}")
        _digest_path(state, index).write_text(hashlib.sha256(content).hexdigest())
        with contextlib.suppress(FileNotFoundError):
            spot.unlink()
        # never through a link that an earlier agent may have left there, never readable by others for a moment
        descriptor = os.open(spot, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, file.mode & 0o700)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(content)
        spot.chmod(file.mode & 0o7777)


def read_back(places: Places, state: TurnState, turn: AssignedTurn) -> list[FileBack]:
    """The `read_back` files that the agent has changed, refreshed credentials for one."""
    found = []
    for index, file in enumerate(turn.files):
        if not file.read_back:
            continue
        try:
            descriptor = os.open(_spot(places, file), os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except OSError:
            continue
        with os.fdopen(descriptor, "rb") as handle:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                continue
            content = handle.read(LARGEST_BACK + 1)
        with contextlib.suppress(OSError):
            given = _digest_path(state, index).read_text()
            if len(content) <= LARGEST_BACK and hashlib.sha256(content).hexdigest() != given:
                found.append(FileBack(path=file.path, content=protocol.encode(content)))
    return found


def take_away(places: Places, turn: AssignedTurn, *, all_of_them: bool) -> None:
    """Delete the turn's files, except those to keep; those to be read back only with `all_of_them`.

    A refreshed credential must not be lost to a crash between its deletion and the acknowledged result.
    """
    for file in turn.files:
        if not file.keep and (all_of_them or not file.read_back):
            with contextlib.suppress(OSError):
                _spot(places, file).unlink()
