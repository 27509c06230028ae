"""Build the file system of a box from inside its own mount namespace, and become the box's first process.

    python3 -I -S -B RUNNER enclose OPTION… -- COMMAND

For machines without bubblewrap: `unshare` makes the namespaces, and this takes those of bubblewrap's options that name
what is to be had. Of the machine's files nothing else is left. Needs Linux 5.12, whose mount_setattr(2) makes a mount
read-only with all that is mounted below it.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

ROOT = "/tmp"  # noqa: S108 - where the new root is built, in a mount namespace that nobody else sees

# linux/mount.h, linux/fcntl.h
_NOSUID, _NODEV, _NOEXEC, _BIND, _RECURSIVE = 2, 4, 8, 4096, 16384
_DETACH = 2
_MOUNT_SETATTR, _AT_FDCWD, _AT_RECURSIVE = 442, -100, 0x8000
_ATTR_RDONLY, _ATTR_NOSUID, _ATTR_NODEV = 1, 2, 4

_DEVICES = ("null", "zero", "full", "random", "urandom", "tty")
_DEVICE_LINKS = {
    "fd": "/proc/self/fd", "stdin": "/proc/self/fd/0", "stdout": "/proc/self/fd/1", "stderr": "/proc/self/fd/2",
    "ptmx": "pts/ptmx",
}  # fmt: skip
_TAKES_SOURCE = ("--bind", "--ro-bind", "--ro-bind-try", "--symlink")
_TAKES_PLACE = ("--dir", "--tmpfs", "--proc", "--dev")


@dataclass(frozen=True)
class Step:
    """One thing to be had at `place`. `source`: an open descriptor of what is bound, or what a link leads to."""

    option: str
    place: str
    mode: int
    source: int | str = ""


def main(arguments: list[str]) -> int:
    """Become the command in the new root; where that fails, the exit code, once it is said why."""
    try:
        cut = arguments.index("--")
        devices = {name: os.open(f"/dev/{name}", os.O_PATH) for name in _DEVICES}
        steps = list(_steps(arguments[:cut]))
        # what is bound is open by now: this hides what was here
        _mount("tmpfs", ROOT, "tmpfs", _NOSUID | _NODEV, "mode=0755")
        for step in steps:
            _take(step, devices)
        _enter()
        for descriptor in (*devices.values(), *(step.source for step in steps)):
            if isinstance(descriptor, int):
                os.close(descriptor)
        command = arguments[cut + 1 :]
        os.execvp(command[0], command)  # noqa: S606
    except (OSError, ValueError, IndexError) as error:
        sys.stderr.write(f"enclose: the file system of the box cannot be made: {error}\n")
        return 1


def _steps(options: Sequence[str]) -> Iterator[Step]:
    words = iter(options)
    mode = 0o755
    for option in words:
        if option == "--perms":
            mode = int(next(words, ""), 8)
            continue
        source: int | str | None = ""
        if option in _TAKES_SOURCE:
            source = next(words, "")
            if option != "--symlink":
                source = _opened(source, missing_ok=option.endswith("-try"))
        elif option not in _TAKES_PLACE:
            raise ValueError(f"{option!r} is none of the options {', '.join((*_TAKES_SOURCE, *_TAKES_PLACE))}")
        place = next(words, "")
        if not place.startswith("/"):
            raise ValueError(f"{option} needs an absolute path, and has {place!r}")
        if source is not None:
            yield Step(option, place, mode, source)
        mode = 0o755


def _opened(path: str, *, missing_ok: bool) -> int | None:
    try:
        return os.open(path, os.O_PATH)
    except FileNotFoundError:
        if missing_ok:
            return None
        raise


def _take(step: Step, devices: dict[str, int]) -> None:
    target = Path(f"{ROOT}{step.place}")
    if isinstance(step.source, int):
        _bind(step.source, target)
        _restrict(target, _ATTR_NOSUID | _ATTR_NODEV | (0 if step.option == "--bind" else _ATTR_RDONLY))
    elif step.option == "--symlink":
        _folder(target.parent)
        target.symlink_to(step.source)
    else:
        _folder(target)
        if step.option == "--proc":
            _mount("proc", str(target), "proc", _NOSUID | _NODEV | _NOEXEC)
        elif step.option == "--dev":
            _devices(target, devices)
        elif step.option == "--tmpfs":
            _mount("tmpfs", str(target), "tmpfs", _NOSUID | _NODEV, f"mode={step.mode:04o}")
        else:
            target.chmod(step.mode)


def _folder(path: Path) -> None:
    """Have this folder, and each on the way, for everybody to pass whatever the umask is."""
    for each in (*reversed(path.parents), path):
        if not each.exists():
            each.mkdir()
            each.chmod(0o755)


def _bind(source: int, target: Path) -> None:
    opened = f"/proc/self/fd/{source}"
    if Path(opened).is_dir():
        _folder(target)
    else:
        _folder(target.parent)
        target.touch()
    _mount(opened, str(target), None, _BIND | _RECURSIVE)


def _devices(folder: Path, devices: dict[str, int]) -> None:
    _mount("tmpfs", str(folder), "tmpfs", _NOSUID, "mode=0755")
    for name, device in devices.items():
        _bind(device, folder / name)
    for name, leads_to in _DEVICE_LINKS.items():
        (folder / name).symlink_to(leads_to)
    _folder(folder / "pts")
    _mount("devpts", str(folder / "pts"), "devpts", _NOSUID | _NOEXEC, "newinstance,ptmxmode=0666,mode=620")


def _enter() -> None:
    """Make what was built the root, as in pivot_root(2): the old root comes to lie on it, and is let go of."""
    os.chdir(ROOT)
    _checked(_libc().pivot_root(b".", b"."), "pivot_root")
    _checked(_libc().umount2(b".", _DETACH), "umount of the old root")
    os.chdir("/")


def _mount(source: str, target: str, kind: str | None, flags: int, options: str = "") -> None:
    done = _libc().mount(
        os.fsencode(source), os.fsencode(target), kind.encode() if kind else None, ctypes.c_ulong(flags),
        options.encode(),
    )  # fmt: skip
    _checked(done, f"mount of {kind or Path(source).readlink()} at {target.removeprefix(ROOT)}")


def _restrict(target: Path, attributes: int) -> None:
    wanted = struct.pack("=QQQQ", attributes, 0, 0, 0)
    done = _libc().syscall(
        ctypes.c_long(_MOUNT_SETATTR), _AT_FDCWD, os.fsencode(target), _AT_RECURSIVE, wanted,
        ctypes.c_size_t(len(wanted)),
    )  # fmt: skip
    _checked(done, f"mount_setattr of {str(target).removeprefix(ROOT)}")


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _checked(done: int, what: str) -> None:
    if done != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"{what}: {os.strerror(number)}")
