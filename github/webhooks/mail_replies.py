"""Replies by mail: what the mail program quoted below its header line was not said by whoever replied. Pure.

`mailparser_reply` knows the header lines of mail programs in a dozen languages. Its patterns take time in the square of
a line, so they see a few short lines at a time, and only where the first of them could begin a header.
"""

import re
from functools import lru_cache

from mailparser_reply.constants import MAIL_LANGUAGES
from mailparser_reply.parser import EmailMessage

WRAPPED = 3  # lines, at most, over which programs wrap "On …, somebody wrote:"
LONGEST = 300  # characters of a line of a header
_ENDS = re.compile(r"[:：]\s*[‎‏‪-‮]?\s*\Z")
_FIELD = re.compile(r"[ *]*[^\W\d_][\w .'()-]{0,30} ?:[ *]*\S")
# "On the forum Bob wrote:" is prose; mail programs name a time or an address, which GitHub may have blanked out.
_TIME = re.compile(r"\d{1,2}[:.h時点시]\s?\d\d")
_ADDRESS = re.compile(r"[<(][^\s<>()]*@[^\s<>()]+[>)]|\*{3}@\*{3}")
_DATE = re.compile(r"\b\d{4}\b|\d{1,2}[./-]\d{1,2}[./-]\d{2}")
_SEPARATOR = re.compile(r"-{3,} ?[^\W\d_][^-\n]{3,60}?-{3,}\s*\Z|[_-]{20,}\s*\Z")
_ORIGINAL = re.compile(r"-{3,} ?Original Message ?-{3,}\s*\Z", re.IGNORECASE)


def own_words(text: str) -> str:
    """The text above what a mail program quoted; where it marked each line with ">", Markdown knows the quote."""
    lines = text.split("\n")
    at = 0
    for number, line in enumerate(lines):
        if line and not line.startswith((" ", "\t", ">")) and _begins_header(lines[number : number + 6]):
            return text[:at]
        at += len(line) + 1
    return text


def _begins_header(lines: list[str]) -> bool:
    if len(lines[0]) > LONGEST:
        return False
    if _ORIGINAL.match(lines[0]):
        return True
    if _SEPARATOR.match(lines[0]):
        fields = sum(1 for line in lines[1:3] if _FIELD.match(line[:LONGEST]))
        return fields == 2 or (fields == 1 and lines[0].startswith("_"))
    return _is_sentence(lines) or _is_block(lines)


def _is_sentence(lines: list[str]) -> bool:
    """ "On Monday at 10:00, somebody <address> wrote:", also over some lines; the same form stands in all languages."""
    for count in range(1, WRAPPED + 1):
        taken = [line[:LONGEST] for line in lines[:count]]
        if len(taken) < count or not taken[-1].strip():
            return False
        joined = " ".join(line.strip() for line in taken)
        if not _ENDS.search(joined):
            continue
        when = bool(_TIME.search(joined)) or bool(_DATE.search(joined))
        if not when or not (_ADDRESS.search(joined) or _known().match(joined)):
            return False
        below = next((line for line in lines[count:] if line.strip()), "")
        return not below.startswith(">")
    return False


def _is_block(lines: list[str]) -> bool:
    """Outlook's "From: … Sent: … To: … Subject: …"."""
    block = []
    for line in lines:
        if not _FIELD.match(line[:LONGEST]):
            break
        block.append(line[:LONGEST])
    if len(block) < 3:
        return False
    if _ADDRESS.search(block[0]) and _TIME.search(block[1]):
        return True
    joined = "\n".join(block)
    return bool(_TIME.search(joined) or _ADDRESS.search(joined)) and _known().match(joined) is not None


@lru_cache(maxsize=1)
def _known() -> re.Pattern[str]:
    known: re.Pattern[str] = EmailMessage(text="", languages=list(MAIL_LANGUAGES)).HEADER_REGEX
    return known
