"""Reading a mention out of Markdown: is Greenloop addressed, and what is it asked for?

Code, quotes, HTML comments, link targets and quoted e-mail do not address anybody. A comment on GitHub is at most
65,536 characters; more than that is not read.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from markdown_it import MarkdownIt
from markdown_it.token import Token

from github.webhooks.command_words import understand
from github.webhooks.commands import Command, Retry, Run, Unclear
from github.webhooks.mail_replies import own_words
from github.webhooks.mention_options import read_options

MAX_TEXT = 65_536
MAX_HTML = 5_000  # characters read of one block of HTML
MANY_BRACKETS = 1_000
# What would make a name longer: not the letters of scripts that put no spaces between words.
_LETTER = "[^\\W_\u0e00-\u0eff\u1000-\u109f\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af\uf900-\ufaff]"
_MARK = "\ue000{}\ue001"
_MARKS = re.compile("\ue000(\\d+)\ue001")
_PRIVATE = re.compile("[\ue000\ue001]")
_QUOTING_TAG = re.compile(r"<(/?)(?:blockquote|pre|code|samp|kbd|script|style|textarea)\b", re.IGNORECASE)
_HTML = re.compile(r"""<!--.*?(?:-->|\Z)|<[a-z/!?](?:[^>"']|"[^"]*"|'[^']*')*>""", re.IGNORECASE | re.DOTALL)
_MARKUP = ("**", "__", "~~", "*", "_")
_WORD = re.compile(r"\w{2,}")
GREETING = 4  # words, at most, that only lead up to a command or thank for it
_parser = MarkdownIt("commonmark").disable("text_join")
# Looking for links takes time in the square of the brackets.
_parser_without_links = MarkdownIt("commonmark").disable(["text_join", "link", "image"])


def read(text: str | None, handles: Sequence[str]) -> Command | None:
    """What is asked of one of `handles` (without "@") in the Markdown `text`; None where none is addressed.

    The first mention counts. What a mail program quoted below a reply is not read.
    """
    if not text or "@" not in text:
        return None
    source = _PRIVATE.sub("", text[:MAX_TEXT]).replace("\r\n", "\n")
    spots = [match.span() for match in _pattern(tuple(handles)).finditer(source)]
    if not spots:
        return None
    said = own_words(source)
    for number in _addressed(said, spots):
        return _command(said, *spots[number])
    return None


def mentioned(text: str | None, handles: Sequence[str]) -> bool:
    """Whether `text` addresses one of `handles`."""
    return read(text, handles) is not None


@lru_cache(maxsize=32)
def _pattern(handles: tuple[str, ...]) -> re.Pattern[str]:
    names = "|".join(re.escape(handle) for handle in sorted(handles, key=len, reverse=True))
    # Before: no word, path, e-mail or second "@"; "_" only where it may be emphasis.
    # After: no longer name, team, domain or possessive.
    return re.compile(
        rf"(?<![@/.`+-])(?<!{_LETTER})(?<!{_LETTER}_)(?<!{_LETTER}__)"
        rf"@(?:{names})(?:\[bot\])?(?!_*{_LETTER}|[@/-]|\.\w|['’]\w|\[bot)",
        re.IGNORECASE,
    )


def _addressed(source: str, spots: Sequence[tuple[int, int]]) -> Iterator[int]:
    """The numbers of those `spots` that stand in running text."""
    parts, at = [], 0
    for number, (start, stop) in enumerate(spots):
        if stop > len(source):
            break
        parts += [source[at:start], _MARK.format(number)]
        at = stop
    marked = "".join([*parts, source[at:]])
    quotes = tags = 0
    parser = _parser if marked.count("[") < MANY_BRACKETS else _parser_without_links
    for token in parser.parse(marked):
        quotes += {"blockquote_open": 1, "blockquote_close": -1}.get(token.type, 0)
        if token.type == "html_block" and not quotes:
            running, tags = _html_text(token.content[:MAX_HTML], tags)
            yield from (int(number) for number in _MARKS.findall(running))
        elif token.type == "inline" and not quotes:
            running, tags = _running_text(token.children or (), tags)
            yield from (int(number) for number in _MARKS.findall(running))


def _running_text(children: Iterable[Token], tags: int) -> tuple[str, int]:
    """The text outside code, link addresses and quoting tags, and how many such tags are still open."""
    text, autolink = "", False
    for child in children:
        if child.type == "html_inline":
            tags = _tags(child.content, tags)
        elif child.type in ("link_open", "link_close"):
            autolink = child.type == "link_open" and child.markup == "autolink"
        elif child.type == "text" and not tags and not autolink:
            text += child.content
        elif child.type in ("softbreak", "hardbreak"):
            text += "\n"
    return text, tags


def _html_text(html: str, tags: int) -> tuple[str, int]:
    """What a block of HTML says outside comments, tags and quoting tags, and how many of the latter are still open."""
    text, at = "", 0
    for found in _HTML.finditer(html):
        text += "" if tags else html[at : found.start()]
        tags = _tags(found[0], tags) if not found[0].startswith("<!--") else tags
        at = found.end()
    return text + ("" if tags else html[at:]), tags


def _tags(html: str, open_tags: int) -> int:
    for closing in _QUOTING_TAG.findall(html):
        open_tags = max(0, open_tags + (-1 if closing else 1))
    return open_tags


def _command(source: str, start: int, stop: int) -> Command:
    start, stop = _with_markup(source, start, stop)
    line_end = source.find("\n", stop)
    line_end = len(source) if line_end < 0 else line_end
    more = source[line_end:].partition("\n\n")[0]
    line, options, problems = read_options(source[stop:line_end], more)
    said = line.strip().lstrip(",:;—–-").strip()
    before, rest = source[:start].rstrip(" \t"), source[line_end:]
    in_table = before.rpartition("\n")[2].startswith("|")
    words, below = (said, rest) if said else _first_line(rest)
    understood = understand(words, in_table=in_table)
    if isinstance(understood.command, Retry):
        hint = "" if in_table else _joined(before, words[understood.taken :].strip(), below)
        return Unclear(problems) if problems else replace(understood.command, hint=_worth(hint), options=options)
    if not isinstance(understood.command, Run):
        return understood.command
    if understood.nearest and (said or not _worth(_joined(before, "", below))):
        return Unclear((_not_known(words, understood.nearest), *problems))
    return Unclear(problems) if problems else Run(_joined(before, said, rest), options)


def _first_line(text: str) -> tuple[str, str]:
    first, _, below = text.strip().partition("\n")
    return first, f"\n{below}" if below else ""


def _joined(before: str, said: str, rest: str) -> str:
    joint = " " if before and said and before[-1] not in "\n*_~([\"'" else ""
    return f"{before}{joint}{said}{rest}".strip()


def _worth(words: str) -> str:
    """The words besides a command, where they are more than a greeting, a bullet or another mention."""
    return words if len(_WORD.findall(words)) > GREETING else ""


def _not_known(words: str, nearest: Sequence[str]) -> str:
    meant = " or ".join(f"`{each}`" for each in nearest)
    return f"`{words.strip().replace('`', '')[:60]}` is no command of mine. Did you mean {meant}?"


def _with_markup(source: str, start: int, stop: int) -> tuple[int, int]:
    """The span with the markup that is only around the mention: `**@greenloop**`, `[@greenloop](address)`."""
    if source[:start].endswith("[") and (link := re.compile(r"\]\([^)\s]*\)").match(source, stop)):
        start, stop = start - 1, link.end()
    for mark in _MARKUP:
        if source[:start].endswith(mark) and source.startswith(mark, stop):
            return start - len(mark), stop + len(mark)
    return start, stop
