"""Replies by mail: what the mail program quoted below its header line was not said by whoever replied. Pure."""

import re

# "On the forum Bob wrote:" is prose; mail programs name a time or an address.
_MAIL_QUOTE = re.compile(
    r"^(?:On\b(?=[^\n]{0,200}(?:\n[^\n]{0,200})?(?:\d[:.h]\d\d|[@*]))[^\n]{4,200}(?:\n[^\n]{0,200})?\bwrote:[ \t]*$"
    r"|-{3,} ?Original Message ?-{3,}|_{20,}[ \t]*\nFrom: )",
    re.MULTILINE,
)


def own_words(text: str) -> str:
    """The text above what a mail program quoted."""
    quoted = _MAIL_QUOTE.search(text)
    return text[: quoted.start()] if quoted else text
