"""Which lines of a failing log its green twin does not have."""

from loops.evidence.passing.templates import Templates
from loops.evidence.passing.twin import Twin

LIKES = 2  # of one template are worth looking for; more of it are new, too, and say no more
LIKENESS = 0.2  # of the lines must be known, or the twin is of another job


class News:
    """Reads a log's blocks in order."""

    def __init__(self, twin: Twin) -> None:
        self._known = twin.templates
        self._templates = Templates()
        self._seen: dict[int, int] = {}
        self._new = bytearray()  # by line: 1 where it is new

    def of(self, block: bytes) -> list[int]:
        """Where each new line of the block ends, but for those that have been seen."""
        ends = []
        known, seen = self._known, self._seen
        templates = self._templates.of(block)
        self._new += bytes(bool(each) and each not in known for each in templates)
        end = -1
        for template in templates:
            end = block.find(b"\n", end + 1)
            if template and template not in known:
                count = seen[template] = seen.get(template, 0) + 1
                if count <= LIKES:
                    ends.append(end)
        return ends

    def __len__(self) -> int:
        return len(self._new)

    @property
    def count(self) -> int:
        """Lines that are new."""
        return self._new.count(1)

    @property
    def unlike(self) -> int:
        """How many of them differ in more than numbers and hashes."""
        return len(self._seen)

    @property
    def telling(self) -> bool:
        """Whether the twin knows enough of this log to be of the same job."""
        return self.count <= (1 - LIKENESS) * len(self._new)

    def is_new(self, number: int) -> bool:
        """Whether the line of this number, counted from 1, is new."""
        return number <= len(self._new) and self._new[number - 1] == 1
