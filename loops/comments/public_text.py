"""What our machinery says, fit for a public comment: no path, host, address, image or variable of the service. Pure.

Agents' answers and repository-relative paths pass as they are: this is for messages that came from the service itself,
a box, a cluster or a program's stderr. Whoever runs the service reads them unchanged in the log and on the page.
"""

import re
from collections.abc import Sequence
from urllib.parse import urlsplit

PATH, ADDRESS, IMAGE, VARIABLE = "(a path)", "(an address)", "(an image)", "a setting"

_URL = re.compile(r"\b[a-z][a-z0-9+.-]{0,20}://[^\s<>\"'`)\]]{1,500}", re.IGNORECASE)
_ASSIGNED = re.compile(r"\b[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)*=\S{1,500}")
_OURS = re.compile(r"\bGREENLOOP_[A-Z0-9_]+")
_DIGEST = re.compile(r"(?<![\w./@:-])[\w./:-]{1,200}@sha256:[0-9a-f]{64}")
_TAGGED = re.compile(r"(?<![\w./@:-])(?:[\w-]{1,63}\.)+[\w-]{1,63}(?::\d{1,5})?(?:/[\w.-]{1,100}){1,6}:[\w.-]{1,128}")
_ABSOLUTE = re.compile(r"(?<![\w./@~-])~?/(?:[\w.@+~-]{1,255}/)*[\w.@+~-]{1,255}/?")
_IPV4 = re.compile(r"(?<![\w.])(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?(?![\w.]*\.\d)")
_IPV6 = re.compile(r"(?<![\w:.])\[?(?:[0-9a-f]{0,4}:){3,7}[0-9a-f]{0,4}\]?(?::\d{1,5})?(?![\w:])", re.IGNORECASE)
_INTERNAL = re.compile(
    r"(?<![\w./-])(?:[a-z0-9-]{1,63}\.){1,8}"
    r"(?:svc|internal|lan|cluster|corp|intranet|local(?=:\d)|(?<=cluster\.)local)(?![\w-]|\.\w)(?::\d{1,5})?",
    re.IGNORECASE,
)
_LOCAL = re.compile(r"\blocalhost(?::\d{1,5})?\b", re.IGNORECASE)


def public_text(text: str, web_urls: Sequence[str]) -> str:
    """`text` without what says how the service is built. URLs under one of `web_urls` (GitHub's, ours) stay."""
    kept: list[str] = []
    known = {_host(url) for url in web_urls}

    def url(found: re.Match[str]) -> str:
        if _host(found[0]) not in known:
            return ADDRESS
        kept.append(found[0])
        return f"\x00{len(kept) - 1}\x00"

    text = _URL.sub(url, text.replace("\x00", ""))
    for shape, word in (
        (_OURS, VARIABLE),
        (_ASSIGNED, VARIABLE),
        (_DIGEST, IMAGE),
        (_TAGGED, IMAGE),
        (_INTERNAL, ADDRESS),
        (_LOCAL, ADDRESS),
        (_IPV4, ADDRESS),
        (_IPV6, ADDRESS),
        (_ABSOLUTE, PATH),
    ):
        text = shape.sub(word, text)
    return re.sub("\x00(\\d+)\x00", lambda found: kept[int(found[1])], text)


def _host(url: str) -> str:
    try:
        return urlsplit(url).netloc.lower()
    except ValueError:
        return ""
