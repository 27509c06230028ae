"""Revisions of the schema, frozen as they landed: somebody's database has gone through each.

`python -m tests.loops.store.frozen`, which is part of `make check`, exits with 1 where one was changed or is not
listed; with `add` it lists those that are new.
"""

import hashlib
import sys
from pathlib import Path

from loops.store import migrations

FOLDER = migrations.FOLDER / "versions"
LIST = Path(__file__).parent / "frozen.sha256"


def listed() -> dict[str, str]:
    """The frozen revisions: file -> SHA-256. The list is one that `sha256sum` reads."""
    pairs = (line.split() for line in LIST.read_text().splitlines())
    return {name: digest for digest, name in pairs}


def present() -> dict[str, str]:
    """The revisions as they are."""
    return {each.name: hashlib.sha256(each.read_bytes()).hexdigest() for each in sorted(FOLDER.glob("*.py"))}


def faults(was: dict[str, str], now: dict[str, str]) -> list[str]:
    """What is wrong, with the way out. Pure."""
    told = [f"{name} was changed: put it back, and write a new revision" for name in was if now.get(name) != was[name]]
    new = sorted(now.keys() - was.keys())
    return told + [f"{name} is not listed: python -m tests.loops.store.frozen add" for name in new]


def main(arguments: list[str]) -> int:
    was, now = listed(), present()
    if arguments == ["add"]:
        LIST.write_text("".join(f"{digest}  {name}\n" for name, digest in sorted((now | was).items())))
        was = listed()
    told = faults(was, now)
    print(*told, sep="\n", end="\n" * bool(told), file=sys.stderr)
    return 1 if told else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
