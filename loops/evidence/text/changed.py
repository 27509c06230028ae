"""Which lines name a file of the change under test, in whatever way their tool spells it."""

import re
from collections.abc import Iterable, Sequence

MOST = 300  # files looked for
NAMED = 10  # points for a file by its path, or by the end of it that has a folder
HINTED = 5  # by its bare name, which others may have too


class Changed:
    """Some files, by paths from the repository's root."""

    def __init__(self, paths: Sequence[str]) -> None:
        parts = [path.strip().replace("\\", "/").removeprefix("./").strip("/").split("/") for path in paths[:MOST]]
        parts = [each for each in parts if each[-1]]
        self._ends = _any("/".join(each[-2:]) for each in parts)
        self._names = _any(each[-1] for each in parts)

    def favour(self, text: str) -> int:
        """Points for naming one of them."""
        if self._names is None or self._ends is None or not self._names.search(text):
            return 0
        return NAMED if self._ends.search(text) else HINTED


def _any(names: Iterable[str]) -> re.Pattern[str] | None:
    """A pattern of whole names; folders may stand before them, and either slash between."""
    escaped = sorted({re.escape(name).replace("/", r"[/\\]{1,2}") for name in names}, key=len, reverse=True)
    return re.compile(rf"(?<![\w.-])(?:{'|'.join(escaped)})(?![\w-])") if escaped else None
