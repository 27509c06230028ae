"""The log of a job, in GitHub's exact form: a BOM, and every line with its moment to the tenth of a microsecond."""

from collections.abc import Callable
from datetime import datetime

BOM = b"\xef\xbb\xbf"
MAX_BYTES = 64 * 1024 * 1024


class JobLog:
    """Lines as they come, without the job's secrets. Past 64 MiB it takes no more, and says so."""

    def __init__(self, now: Callable[[], datetime]) -> None:
        self._now = now
        self._secrets: list[str] = []
        self._parts = [BOM]
        self._size = len(BOM)
        self._full = False

    def mask(self, secret: str) -> None:
        """From now on show `***` in its place, and in that of each of its lines."""
        self._secrets += [part for part in {secret, *secret.splitlines()} if part.strip()]
        self._secrets.sort(key=len, reverse=True)  # one may hold another

    def masked(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "***")
        return text

    def line(self, text: str) -> None:
        """One line, or several when the text has line breaks."""
        if self._full:
            return
        stamp = self._now().strftime("%Y-%m-%dT%H:%M:%S.%f") + "0Z"
        for part in self.masked(text).split("\n"):
            data = f"{stamp} {part}\n".encode(errors="replace")
            self._parts.append(data)
            self._size += len(data)
        if self._size > MAX_BYTES:
            self._full = True
            self._parts.append(f"{stamp} ##[warning]The log is longer than 64 MiB; the rest is left out.\n".encode())

    def group(self, title: str, lines: list[str]) -> None:
        """A folded group."""
        self.line(f"##[group]{title}")
        for text in lines:
            self.line(text)
        self.line("##[endgroup]")

    def content(self) -> bytes:
        return b"".join(self._parts)
