"""The green twin: what a job prints while it passes, small enough to keep, and what is new in it when it fails."""

import json
import zlib
from collections.abc import Iterable
from dataclasses import dataclass, field

from loops.evidence.passing.templates import Templates
from loops.evidence.passing.versions import versions
from loops.evidence.text.blocks import blocks
from loops.evidence.text.clean import lines
from loops.evidence.text.edges import Edges

MOST = 20_000  # templates of one twin
WIDTH = 3  # bytes of a template
FORM = b"1"  # of what `dump` gives


@dataclass(frozen=True)
class Twin:
    """`templates` are those of the lines of one or more passing logs of a job, `versions` what the newest fetched."""

    templates: frozenset[int]
    versions: dict[str, str] = field(default_factory=dict)

    def and_(self, older: "Twin") -> "Twin":
        """Both together, as many as are kept."""
        more = sorted(older.templates - self.templates)[: max(0, MOST - len(self.templates))]
        return Twin(self.templates | frozenset(more), self.versions)

    def dump(self) -> bytes:
        """As bytes to keep."""
        raw = b"".join(each.to_bytes(WIDTH, "big") for each in sorted(self.templates))
        told = json.dumps(self.versions, separators=(",", ":")).encode()
        return FORM + zlib.compress(len(raw).to_bytes(4, "big") + raw + told, 9)


def load(raw: bytes) -> Twin | None:
    """What `dump` gave; None for what it did not."""
    if raw[:1] != FORM:
        return None
    plain = zlib.decompress(raw[1:])
    size = int.from_bytes(plain[:4], "big")
    packed, told = plain[4 : 4 + size], plain[4 + size :]
    templates = (int.from_bytes(packed[at : at + WIDTH], "big") for at in range(0, size, WIDTH))
    return Twin(frozenset(templates), json.loads(told))


def learn(chunks: Iterable[bytes]) -> Twin:
    """The twin that a passing job's raw log makes, in bounded memory."""
    templates, edges = Templates(), Edges()
    found: set[int] = set()
    number = 1
    for block in blocks(chunks):
        if len(found) < MOST:
            found.update(templates.of(block))
        edges.add(number, block)
        number += block.count(b"\n")
    return Twin(frozenset(sorted(found)[:MOST]), versions(lines(edges.windows()).texts))
