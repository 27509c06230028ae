"""Versions as set-up actions take them, in the way that `mise` takes them: a version, or the beginning of one."""

import re

_ANY = ("", "*", "x", "latest", "current", "node")
_EXACT = re.compile(r"[A-Za-z0-9._+-]+")
_REST = re.compile(r"(?:\.[xX*])+$")


def prefix(written: str) -> str:
    """The beginning of the newest version that fits, `latest` where any does or none can be told.

    Actions take ranges as npm writes them: `20.x`, `^20.1`, `~1.22.3`, `>=3.9 <3.13`, `18 || 20`; of one with an upper
    bound it is the lower one that is sure to fit. `lts/NAME` is Node's.
    """
    wanted = re.sub(r"([<>=~^]+)\s+", r"\1", written.rpartition("||")[2].strip())
    first, _, bound = wanted.partition(" ")
    if bound or first.startswith((">", "<")):
        return _plain(first[2:]) if first.startswith(">=") and "<" in bound else "latest"
    if first.startswith("lts/"):
        name = first.removeprefix("lts/")
        return "lts" if name == "*" else _plain(f"lts-{name}")
    parts = _plain(first.lstrip("^~=>")).split(".")
    if first.startswith("^"):
        return ".".join(parts[:2] if parts[0] == "0" else parts[:1])
    return ".".join(parts[:2]) if first.startswith("~") else ".".join(parts)


def _plain(version: str) -> str:
    version = _REST.sub("", re.sub(r"^v(?=\d)", "", version))
    return version if version.lower() not in _ANY and _EXACT.fullmatch(version) else "latest"
