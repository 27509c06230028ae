"""The style of a repository's commit subjects, read from its log, and a subject put into it. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Change = Literal["fix", "feat", "docs", "test"]
Convention = Literal["conventional", "gitmoji", "ticket", ""]

READ = 50
"""Commits whose subjects are read."""
FEWEST = 3
_MOST = 0.6  # of the subjects that follow a convention before it is taken for the repository's

_CONVENTIONAL = re.compile(
    r"(?P<type>build|chore|ci|docs|feat|fix|perf|refactor|revert|style|test)(?:\([^()]{1,60}\))?!?: (?P<rest>\S.*)",
    re.IGNORECASE,
)
_SHORTCODE = re.compile(r":[a-z0-9_+-]{2,40}: ?(?P<rest>\S.*)")
_EMOJI = re.compile(r"[\u2190-\u2bff\U0001f300-\U0001faff]\ufe0f?(?:\u200d\S{1,4})? ?(?P<rest>\S.*)")
_TICKET = re.compile(r"(?P<open>\[?)(?P<ticket>[A-Z][A-Z0-9]{1,9}-\d{1,7})(?P<close>\]?:?) (?P<rest>\S.*)")
_NOT_WRITTEN = re.compile(r"(?:Merge |Revert \"|fixup! |squash! |Bump |v?\d+\.\d+)")

_TYPES: dict[Change, tuple[str, str]] = {
    "fix": ("🐛", ":bug:"),
    "feat": ("✨", ":sparkles:"),
    "docs": ("📝", ":memo:"),
    "test": ("✅", ":white_check_mark:"),
}
_DOCS = re.compile(r"(?:^|/)docs?/|\.(?:md|rst|adoc)\Z|(?:^|/)(?:README|CHANGELOG|LICENSE)[^/]*\Z", re.IGNORECASE)
_TESTS = re.compile(r"(?:^|/)(?:tests?|spec|__tests__)/|(?:^|/)(?:test_|conftest)[^/]*\Z|[._](?:test|spec)\.[^/]+\Z")
_ADDS = re.compile(r"\b(?:add|allow|create|implement|introduce|new|offer|provide|show|support)s?\b", re.IGNORECASE)
_MENDS = re.compile(r"\b(?:bug|correct|crash|error|fail|fix|mend|repair|resolve|wrong)", re.IGNORECASE)


@dataclass(frozen=True)
class CommitStyle:
    """How the log's subjects begin. `example` is the newest subject that does so; `lower`: their first word is not
    capitalised; `period`: they end with one."""

    convention: Convention = ""
    example: str = ""
    lower: bool = False
    period: bool = False


def style_of(subjects: Sequence[str]) -> CommitStyle:
    """The style that most of the subjects, newest first, share."""
    written = [subject.strip() for subject in subjects if subject.strip() and not _NOT_WRITTEN.match(subject)]
    if len(written) < FEWEST:
        return CommitStyle()
    found = [(_convention(subject), subject) for subject in written]
    convention, count = Counter(kind for kind, _ in found).most_common(1)[0]
    shared = convention if count >= _MOST * len(written) else ""
    own = [subject for kind, subject in found if kind == shared] or written
    rests = [rest for subject in own if (rest := _rest(subject))[:1].isalpha()]
    lower = sum(rest[0].islower() for rest in rests) > len(rests) / 2
    period = sum(rest.endswith(".") for rest in rests) > len(rests) / 2
    return CommitStyle(shared, own[0] if shared else "", lower, period)


def in_style(subject: str, style: CommitStyle, change: Change, about: str = "") -> str:
    """`subject` as this repository would write it. `about`: texts in which a ticket's name may stand."""
    line = " ".join(subject.split())
    if style.convention and _convention(line) == style.convention:
        return line
    rest = _rest(line)
    match style.convention:
        case "conventional":
            return f"{change}: {_cased(rest, style)}"
        case "gitmoji":
            emoji, code = _TYPES[change]
            return f"{code if style.example.startswith(':') else emoji} {_cased(rest, style)}"
        case "ticket" if (ticket := _ticket(style.example, about)) and (shape := _TICKET.match(style.example)):
            return f"{shape['open']}{ticket}{shape['close']} {_cased(rest, style)}"
    return _cased(line, style)


def change_of(paths: Sequence[str], words: str, *, repair: bool) -> Change:
    """What kind of change this is, by the files that it touches and what was asked for."""
    if paths and all(_DOCS.search(path) for path in paths):
        return "docs"
    if paths and all(_TESTS.search(path) for path in paths):
        return "test"
    return "feat" if not repair and _ADDS.search(words) and not _MENDS.search(words) else "fix"


def _convention(subject: str) -> Convention:
    if _CONVENTIONAL.match(subject):
        return "conventional"
    if _SHORTCODE.match(subject) or _EMOJI.match(subject):
        return "gitmoji"
    return "ticket" if _TICKET.match(subject) else ""


def _rest(subject: str) -> str:
    """The subject behind what its convention puts before it."""
    for shape in (_CONVENTIONAL, _SHORTCODE, _EMOJI, _TICKET):
        if found := shape.match(subject):
            return str(found["rest"])
    return subject


def _cased(rest: str, style: CommitStyle) -> str:
    """With the first letter and the end as the log has them; a word that is not only capitalised, as a name, stays."""
    first, _, _ = rest.partition(" ")
    plain = first.isalpha() and (first[1:].islower() or len(first) == 1)
    if plain:
        rest = (rest[0].lower() if style.lower else rest[0].upper()) + rest[1:]
    bare = rest.rstrip(".") or rest
    return f"{bare}." if style.period else bare


def _ticket(example: str, about: str) -> str:
    """The ticket that `about` names, of the project of the example; empty where it names none."""
    shape = _TICKET.match(example)
    project = shape["ticket"].partition("-")[0] if shape else ""
    found = re.search(rf"(?<![A-Za-z0-9]){project}-\d{{1,7}}(?!\d)", about) if project else None
    return found[0] if found else ""
