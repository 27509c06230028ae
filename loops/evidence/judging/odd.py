"""Lines like no other of their log: a harness that nobody knows says there, in words of its own, what went wrong."""

from collections import Counter
from collections.abc import Sequence

from loops.evidence.text.general import DULL

MOST = 40  # the last before the end of the failure
SHORTEST = 8  # characters besides digits
DIGITS = b"0123456789"
END = "##[error]"


def odd(texts: Sequence[str]) -> list[int]:
    """Indexes of at most MOST lines before the runner's last mark of an error that differ from all others in more than
    numbers."""
    end = max((i for i, text in enumerate(texts) if text.startswith(END)), default=len(texts))
    # of all at once: line by line it takes ten times as long
    keys = "\n".join(texts).encode(errors="replace").translate(None, DIGITS).decode().split("\n")
    counts = Counter(keys)
    found: list[int] = []
    for i in range(end - 1, -1, -1):
        if counts[keys[i]] == 1 and len(keys[i]) >= SHORTEST and not DULL.match(texts[i]):
            found.append(i)
            if len(found) == MOST:
                break
    return found[::-1]
