"""An agent's home, made anew for each turn: from the image's skeleton, with links to caches of data that may stay.

{agent}/home            the home of this turn, the checkout in it
{agent}/caches/{name}   what package managers have downloaded
"""

from __future__ import annotations

import base64
import contextlib
import os
import shutil
from pathlib import Path
from typing import Any

from ..state import remove_tree

CACHES = {
    "pip": ".cache/pip",
    "npm": ".npm/_cacache",
    "go": "go/pkg/mod",
    "cargo": ".cargo/registry",
    "maven": ".m2/repository",
    "gradle": ".gradle/caches/modules-2",
}
"""Where each cache stands in a home. Only downloads: none of them is read as configuration or is on a PATH, as
`.npm/_npx`, `go/bin`, `.cargo/config.toml`, `.m2/settings.xml` and `.gradle/init.d` beside them are."""

TURN_FOLDER = ".greenloop/turn"
"""Where a turn's evidence is, below the home."""


def clear(agent: Path) -> None:
    """Delete everything below `agent` but the caches. Raises OSError."""
    for entry in os.scandir(agent):
        if entry.name != "caches" or not entry.is_dir(follow_symlinks=False):
            remove_tree(Path(entry.path))
    caches = agent / "caches"
    if caches.is_dir():
        for entry in os.scandir(caches):
            if entry.name not in CACHES or not entry.is_dir(follow_symlinks=False):
                remove_tree(Path(entry.path))


def make(agent: Path, skeleton: Path | None) -> Path:
    """A fresh home below `agent`. Raises OSError."""
    clear(agent)
    home = agent / "home"
    if skeleton is None:
        home.mkdir(mode=0o700)
    else:
        shutil.copytree(skeleton, home, symlinks=True)
    for name, place in CACHES.items():
        cache = agent / "caches" / name
        cache.mkdir(mode=0o700, parents=True, exist_ok=True)
        cache.chmod(0o700)
        link = home / place
        link.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        if not os.path.lexists(link):
            link.symlink_to(cache)
    return home


def fill(home: Path, given: Path, files: list[dict[str, Any]]) -> None:
    """Put evidence, conversation and `files` (path, content in base64, mode) in place. Raises OSError."""
    for source, place in ((given / "evidence", home / TURN_FOLDER), (given / "conversation", home)):
        if source.is_dir():
            _copy(source, place)
    (home / TURN_FOLDER).mkdir(mode=0o700, parents=True, exist_ok=True)
    for file in files:
        spot = home / file["path"]
        _make_folders(home, spot.parent)
        with contextlib.suppress(FileNotFoundError):
            spot.unlink()
        descriptor = os.open(spot, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, file["mode"] & 0o700)
        with os.fdopen(descriptor, "wb") as handle:
            handle.write(base64.b64decode(file["content"]))
        spot.chmod(file["mode"] & 0o7777)


def _copy(source: Path, place: Path) -> None:
    for folder, _, names in os.walk(source):
        into = place / Path(folder).relative_to(source)
        into.mkdir(mode=0o700, parents=True, exist_ok=True)
        for name in names:
            shutil.copyfile(Path(folder, name), into / name)


def _make_folders(home: Path, folder: Path) -> None:
    here = home
    for part in folder.relative_to(home).parts:
        here = here / part
        with contextlib.suppress(FileExistsError):
            here.mkdir(mode=0o700)
