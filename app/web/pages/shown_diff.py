"""The diff on a session's page. A large one is rendered in another process, and kept for the next look at it."""

import hashlib
from collections import OrderedDict

from app.web.pages import diff
from app.web.pages.render import html
from loops.offload import HEAVY, Offload, Withheld

KEPT = 8
"""Large diffs that a process keeps rendered, of some megabytes each at most."""


class ShownDiffs:
    """The diffs of one process, as HTML."""

    def __init__(self) -> None:
        self._kept: OrderedDict[bytes, str] = OrderedDict()

    async def html(self, offload: Offload, installation: int, text: str) -> str:
        """`text`, the diff of a session of that installation, for the page; else why it is not shown."""
        if len(text) < HEAVY:
            return rendered(text)
        key = hashlib.sha256(text.encode("utf-8", "replace")).digest()
        if key not in self._kept:
            try:
                self._kept[key] = await offload.run(installation, rendered, text)
            except Withheld as error:
                return html("_diff.html", diff=diff.Diff([]), withheld=str(error))
            while len(self._kept) > KEPT:
                self._kept.popitem(last=False)
        self._kept.move_to_end(key)
        return self._kept[key]


def rendered(text: str) -> str:
    """The diff as HTML. Pure."""
    return html("_diff.html", diff=diff.parse(text), withheld="")
