"""Links of our pages that lead nowhere: a file that is not there, or a heading that its page does not have."""

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote, urlsplit

from markdown_it import MarkdownIt
from markdown_it.token import Token

MARKDOWN = MarkdownIt("commonmark").enable("table")


def anchors(text: str) -> set[str]:
    """The anchors that GitHub gives the headings of a page: a heading that comes again gets a number."""
    found: set[str] = set()
    tokens = MARKDOWN.parse(text)
    for opening, inline in itertools.pairwise(tokens):
        if opening.type != "heading_open":
            continue
        words = "".join(child.content for child in inline.children or [])
        name = re.sub(r"[^\w\- ]", "", words.strip().lower()).replace(" ", "-")
        number, anchor = 0, name
        while anchor in found:
            number += 1
            anchor = f"{name}-{number}"
        found.add(anchor)
    return found


def targets(text: str) -> list[str]:
    """Where a page's links and images lead, in their order; what stands in code is none."""
    return [
        str(address)
        for token in _walk(MARKDOWN.parse(text))
        if (address := token.attrGet("href") or token.attrGet("src")) is not None
    ]


def broken(page: Path) -> list[str]:
    """The links of a page that lead nowhere in this repository; those to other sites are not asked for."""
    return [target for target in targets(page.read_text()) if not _leads_somewhere(page, target)]


def _leads_somewhere(page: Path, target: str) -> bool:
    address = urlsplit(target)
    if address.scheme or address.netloc:
        return True
    path = page.parent / unquote(address.path) if address.path else page
    if not path.exists():
        return False
    return not address.fragment or (path.is_file() and unquote(address.fragment) in anchors(path.read_text()))


def _walk(tokens: list[Token]) -> Iterator[Token]:
    for token in tokens:
        yield token
        yield from _walk(token.children or [])
