"""Which servers this person has logged in at: a file of theirs that nobody else may read."""

import json
import os
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from app.web.signin.local import loopback


@dataclass(frozen=True)
class Server:
    """A Greenloop, by its public address, and the token to show there."""

    url: str
    token: str = field(repr=False)


def address(named: str) -> str:
    """The server's address as it is kept. Raises ValueError for one that a token must not be sent to."""
    text = named.strip()
    parts = urlsplit(text if "://" in text else f"https://{text}")
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username or parts.query or parts.fragment:
        raise ValueError(f"{named!r} is no address of a Greenloop: it looks like https://greenloop.example.com")
    if parts.scheme == "http" and not loopback(parts.hostname):
        raise ValueError(f"{text}: the token would travel in the clear; name it with https://")
    return parts.geturl().rstrip("/")


def chosen(named: str | None, environment: Mapping[str, str] = os.environ) -> Server | None:
    """The server that is meant: `named`, else the one logged in at last; None for neither, and for the name "".

    `GREENLOOP_TOKEN` takes the place of the token that was kept. Raises ValueError where there is no token.
    """
    if named == "":
        return None
    kept = _read(environment)
    url = address(named) if named is not None else kept["last"]
    if not url:
        return None
    token = environment.get("GREENLOOP_TOKEN") or kept["servers"].get(url)
    if not token:
        raise ValueError(f"you are not logged in at {url}: `greenloop login {url}`, or set GREENLOOP_TOKEN")
    return Server(url, token)


def keep(server: Server, environment: Mapping[str, str] = os.environ) -> Path:
    """Remember the token, and that this server was the last; where."""
    kept = _read(environment)
    kept["servers"][server.url] = server.token
    return _write(environment, {"last": server.url, "servers": kept["servers"]})


def forget(url: str, environment: Mapping[str, str] = os.environ) -> None:
    """Remember the server's token no more."""
    kept = _read(environment)
    kept["servers"].pop(url, None)
    last = "" if kept["last"] == url else kept["last"]
    _write(environment, {"last": last, "servers": kept["servers"]})


def _file(environment: Mapping[str, str]) -> Path:
    folder = environment.get("XDG_CONFIG_HOME") or "~/.config"
    return Path(folder).expanduser() / "greenloop" / "logins.json"


def _read(environment: Mapping[str, str]) -> dict[str, Any]:
    file = _file(environment)
    try:
        mode = file.stat().st_mode
        found = json.loads(file.read_text())
    except FileNotFoundError:
        return {"last": "", "servers": {}}
    except ValueError:
        raise ValueError(f"{file} holds no logins: remove it, and log in again") from None
    if mode & 0o077:
        raise ValueError(f"others may read {file}, which holds your tokens: chmod 600 it, or log in anew")
    return {"last": str(found.get("last") or ""), "servers": dict(found.get("servers") or {})}


def _write(environment: Mapping[str, str], value: dict[str, Any]) -> Path:
    """In one step, so that an end in the middle leaves the former file."""
    file = _file(environment)
    file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    handle, name = tempfile.mkstemp(dir=file.parent)  # which only we may read
    with os.fdopen(handle, "w") as written:
        json.dump(value, written, indent=1)
    Path(name).replace(file)
    return file
