"""Log lines as templates: a number for each line that is the same for lines that differ in numbers and hashes alone.

The templates of a job that passed tell which lines of the same job, failing, are new. They are of a step: what one step
prints while all is well may be the failure of another. A zero is told from other numbers: `0 failed` is not `1 failed`.
"""

import re
from zlib import crc32

from loops.evidence.text.clean import ANSI, NAMED_STAMP, STAMP

TIME = re.compile(
    rb"(?m)^(?:\xef\xbb\xbf)?(?:[^\t\n]{1,200}\t[^\t\n]{0,200}\t)?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z ?"
)
ZERO = re.compile(rb"(?<![\w.:-])0(?![\w.:-]*\d)")
# a number with what hangs on it, and the hexadecimal letters before it: versions, hashes, durations, sizes
NUMBER = re.compile(rb"[a-fA-F]{0,64}[0-9][0-9A-Za-z]*(?:[.:_-]?[0-9]+[A-Za-z]*)*")
TEMPORARY = re.compile(rb"/(?:tmp|temp|var/folders)/[^\s'\":,;)]{1,200}")
STEP = b"##[group]Run "
POST = b"Post job cleanup."
BITS = 0xFFFFFF  # three bytes of each: a few kilobytes for a job's


class Templates:
    """Reads blocks of whole lines in order; knows which step they are of."""

    def __init__(self) -> None:
        self._step = 0

    def of(self, block: bytes) -> list[int]:
        """A template for each line of the block; 0 for a line without a letter or digit."""
        stamp = NAMED_STAMP if b"\t20" in block[:1_000] else STAMP
        text = stamp.sub(b"\n", b"\n" + block)[1:]
        if b"\x1b" in text:
            text = ANSI.sub(b"", text)
        if b"\r" in text:
            text = text.replace(b"\r", b"")
        text = NUMBER.sub(b"1", ZERO.sub(b"O", TEMPORARY.sub(b"/tmp/", text)))
        found = []
        step = self._step
        for line in text.removesuffix(b"\n").split(b"\n"):
            if line.startswith((STEP, POST)):
                step = crc32(line.strip())
            line = line.strip()
            found.append((crc32(line, step) & BITS) or 1 if line else 0)
        self._step = step
        return found
