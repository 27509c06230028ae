"""Calls of the Linux kernel that Python's library has no name for."""

from __future__ import annotations

import ctypes
import os
import platform
import struct
import sys
from collections.abc import Callable

LINUX = sys.platform.startswith("linux")

_PR_SET_DUMPABLE = 4
_PR_SET_SECCOMP = 22
_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_MODE_FILTER = 2
_LANDLOCK_CREATE_RULESET = 444
_LANDLOCK_RESTRICT_SELF = 446
_LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET = 1

# offsets in struct seccomp_data (linux/seccomp.h), and classic BPF (linux/filter.h)
_NR, _ARCH, _ARG0, _ARG1 = 0, 4, 16, 24
_LOAD, _EQUAL, _AT_LEAST, _RETURN = 0x20, 0x15, 0x35, 0x06
_ALLOW, _REFUSE = 0x7FFF0000, 0x00050000 | 1  # EPERM
_X32 = 0x40000000

# machine: (AUDIT_ARCH, calls refused for process 1, setpriority, ioprio_set, the calls of kernel keyrings)
_MACHINES = {
    "x86_64": (0xC000003E, (302, 142, 144, 203, 314), 141, 251, (248, 249, 250)),
    "aarch64": (0xC00000B7, (261, 118, 119, 122, 274), 140, 30, (217, 218, 219)),
}


def _libc() -> ctypes.CDLL:
    return ctypes.CDLL(None, use_errno=True)


def _prctl(option: int, *arguments: object) -> None:
    if _libc().prctl(option, *arguments, *(0 for _ in range(4 - len(arguments)))) != 0:
        number = ctypes.get_errno()
        raise OSError(number, f"prctl({option}): {os.strerror(number)}")


def hide_memory() -> None:
    """Let no process of the same user read this one's memory, environment and descriptors. Raises OSError."""
    if LINUX:
        _prctl(_PR_SET_DUMPABLE, 0)


def filter_program(machine: str) -> bytes:
    """The seccomp filter of an agent, as instructions of classic BPF; empty for a machine that we do not know.

    An agent shares its user with process 1, which is the supervisor, and so could take its limits and priority away:
    prlimit64, sched_set… on process 1, setpriority and ioprio_set on it or on all of the user, are refused. So are
    keyrings, which belong to a user and outlive a turn.
    """
    if machine not in _MACHINES:
        return b""
    arch, on_process_1, priority, io_priority, keys = _MACHINES[machine]
    code: list[tuple[int, int, int, int]] = []

    def load(offset: int) -> None:
        code.append((_LOAD, 0, 0, offset))

    def answer(value: int) -> None:
        code.append((_RETURN, 0, 0, value))

    load(_ARCH)
    code.append((_EQUAL, 1, 0, arch))
    answer(_REFUSE)  # another calling convention has other numbers
    load(_NR)
    code.append((_AT_LEAST, 0, 1, _X32))
    answer(_REFUSE)
    for number in keys:
        code.append((_EQUAL, 0, 1, number))
        answer(_REFUSE)
    for number in on_process_1:
        # arguments are 64 bits wide, and these ones ints: the lower half counts
        code.append((_EQUAL, 0, 4, number))
        load(_ARG0)
        code.append((_EQUAL, 0, 1, 1))
        answer(_REFUSE)
        answer(_ALLOW)
    for number, by_user in ((priority, 2), (io_priority, 3)):
        code.append((_EQUAL, 0, 6, number))
        load(_ARG0)
        code.append((_EQUAL, 2, 0, by_user))
        load(_ARG1)
        code.append((_EQUAL, 0, 1, 1))
        answer(_REFUSE)
        answer(_ALLOW)
    answer(_ALLOW)
    return b"".join(struct.pack("=HBBI", *each) for each in code)


def confine(*, scoped: bool) -> None:
    """In a child that becomes an agent: no new privileges, the filter, and with `scoped` no abstract sockets of others.

    Raises OSError. What an older kernel does not know (Landlock's scope came with Linux 6.12) is left out.
    """
    if not LINUX:
        return
    _prctl(_PR_SET_NO_NEW_PRIVS, 1)
    if scoped:
        _scope()
    program = filter_program(platform.machine())
    if program:
        instructions = ctypes.create_string_buffer(program, len(program))
        about = struct.pack("@HP", len(program) // 8, ctypes.addressof(instructions))
        _prctl(_PR_SET_SECCOMP, _SECCOMP_MODE_FILTER, ctypes.create_string_buffer(about, len(about)))


def _scope() -> None:
    """Abstract sockets have no file and no owner: whoever shares the network could be talked to as the same user."""
    libc = _libc()
    wanted = struct.pack("=QQQ", 0, 0, _LANDLOCK_SCOPE_ABSTRACT_UNIX_SOCKET)
    rules = libc.syscall(_LANDLOCK_CREATE_RULESET, ctypes.create_string_buffer(wanted, len(wanted)), len(wanted), 0)
    if rules >= 0:
        libc.syscall(_LANDLOCK_RESTRICT_SELF, rules, 0)
        os.close(rules)


def remove_ipc() -> None:
    """Remove every System V queue, segment and semaphore set that we may: they outlive processes."""
    if not LINUX:
        return
    libc = _libc()
    removals: dict[str, Callable[[int], object]] = {
        "shm": lambda number: libc.shmctl(number, 0, None),
        "msg": lambda number: libc.msgctl(number, 0, None),
        "sem": lambda number: libc.semctl(number, 0, 0),
    }
    for kind, remove in removals.items():
        try:
            with open(f"/proc/sysvipc/{kind}", encoding="ascii") as table:  # noqa: PTH123 - no Path is needed for it
                numbers = [int(line.split()[1]) for line in table.readlines()[1:]]
        except OSError:
            continue
        for number in numbers:
            remove(number)
