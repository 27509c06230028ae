"""The one way of text to GitHub: what others or an agent wrote does nothing there. Pure; twice is once.

GitHub acts on text wherever it stands: words such as `fixes #1` close issues when a commit or a pull request reaches
the default branch (a squash merge takes its title over), `@name` notifies, images are fetched by who reads, HTML and
link definitions hide text, an open fence swallows what follows, and `/word` at the beginning of a line is a command to
other bots. Code stays code. To be sure that GitHub takes the same things for code as this does, a fence is moved
to the beginning of its line, a code span ends on its line, and every other backquote is made plain text.

https://docs.github.com/en/issues/tracking-your-work-with-issues/linking-a-pull-request-to-an-issue
https://spec.commonmark.org/0.31.2/ (fences, code spans, backslash escapes)
"""

import re
from collections.abc import Callable, Sequence

from github.client.text import clip

APART = "\N{ZERO WIDTH SPACE}"
MOST_QUOTES = 8  # quotes within quotes; deeper ones are plain text

_LINE_END = re.compile(r"\r\n?")
_INVISIBLE = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b\u202a-\u202e"
    "\u2060-\u206f\u3164\ufe00-\ufe0d\ufeff\uffa0\ufff9-\ufffb\U000e0000-\U000e0fff]"
)
_TERMINAL = re.compile(
    r"\x1b(?:\[[0-9;:?]{0,64}[ -/]{0,8}[@-~]|\][^\x07\x1b]{0,4096}(?:\x07|\x1b\\)|[()][A-Z0-9]|[=>78DEHMc])"
)
_CLOSING = re.compile(
    r"(?:(?<![^\W_])|(?<=%40))(?P<word>close[sd]?|fix(?:e[sd])?|resolve[sd]?)(?![^\W_])"
    r"(?=(?:&#?\w{1,10};|[\W_]){0,40}?(?:#(?P<number>\d+)|gh-\d|[\w.-]{1,100}/[\w.-]{1,100}#\d"
    r"|https?:/\S{1,200}?/(?:issues|pulls?|discussions)/\d))",
    re.IGNORECASE,
)
_URL = re.compile(r"https?://[^\s<>]{1,2000}", re.IGNORECASE)
_MENTION = re.compile(r"(?<![A-Za-z0-9])@(?=[A-Za-z0-9_])")
_SHOWN = re.compile(
    r"!(?=\[)|<(?=!--|/?(?:img|picture|source|video|audio|svg|iframe|script|style|details|summary|a)[\s/>])",
    re.IGNORECASE,
)
_FENCE = re.compile(r"[ \t]*(?P<mark>`{3,}(?=[^`]*\Z)|~{3,})(?P<info>.*)\Z")
_QUOTE = re.compile(r" {0,3}> ?")
_FOLD = re.compile(r"<details><summary>(?P<title>[^<>]*)</summary>")
_UNFOLD = "</details>"
_COMMAND = re.compile(r"[ \t]*(?=/[A-Za-z])")
_TICKS = re.compile(r"`+")
_HARMLESS = {"<": "&lt;", "![": "!\\[", "&": "\\&", ":": "\\:"}
_TOKEN = re.compile(r"\\[!-/:-?\[-`{-~]|`+|<(?=[A-Za-z/!?])|&(?!(?:lt|gt|amp|quot);)(?=#?\w{1,40};)|!\[|(?<=\]):")


def outgoing(text: str, cut: Callable[[str], str] = clip, *, closes: int | None = None) -> str:
    """`defused`, with our own folds, and no longer than `cut` leaves it."""
    safe = defused(text, closes=closes, folds=True)
    if (short := cut(safe)) == safe:
        return safe
    again = defused(short, closes=closes, folds=True)  # the cut may have left half a code span
    return again if cut(again) == again else cut(defused(text.replace("`", "'"), closes=closes, folds=True))


def defused(text: str, *, closes: int | None = None, folds: bool = False) -> str:
    """Markdown that reads as it was meant, and does nothing.

    `closes` is the one issue of the same repository that it may close. With `folds`, `<details>` stays where it fills
    its line with its title as plain text: for our own texts; what others wrote is defused before it is put into one.
    """
    done = _blocks(_no_closing(visible(text), closes).split("\n"), folds=folds)
    return done if text.endswith("\n") else done.rstrip("\n")


def defused_plain(text: str) -> str:
    """A title, or the message of a commit or an annotation: no Markdown, but release notes make some of it."""
    return _SHOWN.sub(rf"\g<0>{APART}", _apart(_no_closing(visible(text), None)))


def visible(text: str) -> str:
    """`text` without what nobody sees and what only terminals obey, its lines ended by `\\n`."""
    plain = text.encode("utf-8", "replace").decode("utf-8")
    return _INVISIBLE.sub("", _TERMINAL.sub("", _LINE_END.sub("\n", plain)))


def _blocks(lines: Sequence[str], *, folds: bool = False, depth: int = 0) -> str:
    """Fences, quotes and folds, and all other lines as text."""
    done: list[str] = []
    folded = at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        fold = _FOLD.fullmatch(line) if folds else None
        if fence := _FENCE.match(line):
            inside, at = _fenced(lines, at, fence["mark"])
            width = len(line) - len(line.lstrip())
            done += [fence["mark"] + fence["info"], *(_dedented(each, width) for each in inside), fence["mark"]]
        elif depth < MOST_QUOTES and _QUOTE.match(line):
            quoted = [line]
            while at < len(lines) and _QUOTE.match(lines[at]):
                quoted.append(lines[at])
                at += 1
            inner = _blocks([_QUOTE.sub("", each, count=1) for each in quoted], depth=depth + 1)
            done += [f"> {each}".rstrip() for each in inner.split("\n")]
        elif fold or (folded and line == _UNFOLD):
            folded += 1 if fold else -1
            # HTML goes on to the next empty line: what follows has to be Markdown again
            done += [f"<details><summary>{_apart(fold['title'])}</summary>" if fold else line, ""]
            at += 1 if at < len(lines) and not lines[at] else 0
        else:
            done.append(_line(line))
    return "\n".join(done + [_UNFOLD] * folded)


def _fenced(lines: Sequence[str], at: int, mark: str) -> tuple[list[str], int]:
    """The lines of the fence that `mark` opened, and the number of the line after it."""
    inside: list[str] = []
    while at < len(lines):
        bare = lines[at].strip(" \t")
        at += 1
        if len(bare) >= len(mark) and not bare.strip(mark[0]):
            break
        inside.append(lines[at - 1])
    return inside, at


def _dedented(line: str, width: int) -> str:
    return line[min(width, len(line) - len(line.lstrip())) :]


def _line(line: str) -> str:
    """One line of text, as Markdown."""
    if found := _COMMAND.match(line):
        line = f"{found[0]}\\{line[found.end() :]}"
    ends = _ends_of_code(line)
    out: list[str] = []
    at = 0
    while token := _TOKEN.search(line, at):
        out.append(_apart(line[at : token.start()]))
        at = token.end()
        if token[0][0] == "`":
            end = ends.get(token.start(), 0)
            # tables are cut at `|` before code is looked for
            if end and "|" not in line[at:end]:
                out.append(line[token.start() : end])
                at = end
            else:
                out.append("\\`" * len(token[0]))
        else:
            out.append(_HARMLESS.get(token[0], token[0]))
    out.append(_apart(line[at:]))
    return "".join(out)


def _ends_of_code(line: str) -> dict[int, int]:
    """Where each code span would begin and end: at the next run of as many backquotes."""
    ends: dict[int, int] = {}
    following: dict[int, int] = {}
    for run in reversed(list(_TICKS.finditer(line))):
        length = run.end() - run.start()
        if length in following:
            ends[run.start()] = following[length]
        following[length] = run.end()
    return ends


def _no_closing(text: str, closes: int | None) -> str:
    """Without words that close an issue, other than `closes` of the same repository."""

    def broken(found: re.Match[str]) -> str:
        word = found["word"]
        own = closes is not None and found["number"] == str(closes)
        return word if own else f"{word[0]}{APART}{word[1:]}"

    return _CLOSING.sub(broken, text)


def _apart(text: str) -> str:
    """Nobody is mentioned."""
    out: list[str] = []
    at = 0
    for url in _URL.finditer(text):
        out += [_MENTION.sub(f"@{APART}", text[at : url.start()]), url[0].replace("@", "%40")]
        at = url.end()
    return "".join(out) + _MENTION.sub(f"@{APART}", text[at:])
