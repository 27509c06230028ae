"""Keep what an agent prints in a file that can be read by offset while it grows, capped, its end never lost."""

from __future__ import annotations

import errno
import os
from collections import deque
from pathlib import Path


class Capture:
    """Writes to `path` what it is given, at most about `limit` bytes.

    The first three quarters go to the file at once. What follows is held back, the newest quarter of it, and is
    written by `finish` behind one line that says how much was left out; so an agent that prints 100 MB still has its
    last words heard. `disk_full` says that the disk took no more; the agent is not stopped by that.
    """

    def __init__(self, path: Path, limit: int) -> None:
        self._file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o600)
        self._limit = limit
        self._room = limit - limit // 4
        self._tail: deque[bytes] = deque()
        self._tail_size = 0
        self._dropped = 0
        self._over = False
        self._last = b""
        self.disk_full = False

    def write(self, data: bytes) -> None:
        """Take what was printed."""
        if self._over:
            self._hold(data)
        elif len(data) <= self._room:
            self._room -= len(data)
            self._put(data)
        else:
            # the file's part ends with a whole line, if there is one
            cut = data.rfind(b"\n", 0, self._room) + 1
            if not cut and self._last != b"\n":
                cut = self._room
            self._over = True
            self._put(data[:cut])
            self._hold(data[cut:])

    def _hold(self, data: bytes) -> None:
        self._tail.append(data)
        self._tail_size += len(data)
        while self._tail and self._tail_size - len(self._tail[0]) >= self._limit // 4:
            oldest = self._tail.popleft()
            self._tail_size -= len(oldest)
            self._dropped += len(oldest)

    def finish(self) -> None:
        """Write what was held back, and make all of it last."""
        tail = b"".join(self._tail)
        keep = self._limit // 4
        if len(tail) > keep:
            self._dropped += len(tail) - keep
            tail = tail[-keep:]
        if self._dropped:
            start = tail.find(b"\n") + 1
            self._dropped += start
            said = f"[greenloop: {self._dropped} bytes of output are left out here; the limit is {self._limit}]\n"
            self._put((b"" if self._last in (b"", b"\n") else b"\n") + said.encode() + tail[start:])
        else:
            self._put(tail)
        try:
            os.fsync(self._file)
        except OSError as error:
            self._failed(error)
        os.close(self._file)

    def _put(self, data: bytes) -> None:
        view = memoryview(data)
        try:
            while view:
                written = os.write(self._file, view)
                self._last = bytes(view[written - 1 : written])
                view = view[written:]
        except OSError as error:
            self._failed(error)

    def _failed(self, error: OSError) -> None:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise error
        self.disk_full = True
