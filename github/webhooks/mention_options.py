"""The options a mention may carry on its own line: `--runtime`, `--model`, `--base`, `--cap`."""

import difflib
import re
from dataclasses import dataclass, replace

from github.repositories.refs import branch_problem

KNOWN = ("runtime", "model", "base", "cap")
MAX_CAP = 50

_VALUE = r"""(?:"[^"]*"|'[^']*'|`[^`]*`|\S+)"""
_OPTION = re.compile(rf"(?<!\S)(?P<dash>--|—|–)(?P<name>[A-Za-z][\w-]*)(?:=(?P<given>{_VALUE}|))?")
_FOLLOWING = re.compile(rf"[ \t]+(?!--|—|–)({_VALUE})")
_TICKS = re.compile("`+")
_HIDDEN = re.compile(
    r"""<!--.*?(?:-->|\Z)|<(?P<tag>code|pre|samp|kbd|blockquote|q|del|script|style)\b[^>]*>.*?(?:</(?P=tag)>|\Z)"""
    r"""|"[^"\n]*"|“[^”\n]*”|„[^“”\n]*[“”]|«[^»\n]*»|(?<!\w)'[^'\n]*'(?!\w)""",
    re.IGNORECASE | re.DOTALL,
)
_NAME = re.compile(r"[A-Za-z0-9][\w./:@+-]{0,127}\Z")


@dataclass(frozen=True, slots=True)
class MentionOptions:
    """What the asker chose; None where they left it to the configuration. `cap` counts attempts."""

    runtime: str | None = None
    model: str | None = None
    base: str | None = None
    cap: int | None = None


NO_OPTIONS = MentionOptions()


def read_options(line: str, more: str = "") -> tuple[str, MentionOptions, tuple[str, ...]]:
    """The line without its options, the options, and a sentence for each that cannot be taken.

    A known option counts anywhere on the line. An unknown one is a mistake at the line's start or end; in the middle it
    is part of the sentence ("add a --verbose flag"). What stands in code, quotation marks or HTML comments is never an
    option; `more` is what follows the line in its paragraph, where one of these may end.
    """
    options, problems, kept, at = MentionOptions(), [], "", 0
    for match in _OPTION.finditer(_visible(line + more)[: len(line)]):
        if match.start() < at:
            continue
        name = match["name"].lower()
        value, end = _value(line, match)
        if match["dash"] != "--" and (name not in KNOWN or not value):
            continue  # phones turn "--" into a dash, and people write "—thanks"
        if name in KNOWN:
            options, problem = _take(options, name, value)
        elif (kept + line[at : match.start()]).strip(" ,:") and (line[end:].strip() or _signs(match)):
            continue
        else:
            problem = _unknown(name)
        kept += line[at : match.start()]
        at = end
        problems += [problem] if problem else []
    return re.sub(r"[ \t]{2,}", " ", kept + line[at:]), options, tuple(problems)


def _signs(match: re.Match[str]) -> bool:
    """Whether the last word of a line is a signature or a courtesy after two hyphens ("--Bob", "--thanks")."""
    return match["given"] is None and (match["name"][:1].isupper() or match["name"].lower() in _COURTESIES)


def _visible(text: str) -> str:
    """The text with all that is no running text blanked out, character by character."""
    return _HIDDEN.sub(lambda found: "\0" * len(found[0]), _without_code(text))


def _without_code(line: str) -> str:
    """The line with its inline code blanked out, character by character."""
    ticks = [match.span() for match in _TICKS.finditer(line)]
    ends: dict[int, int] = {}  # by how many ticks, from the line's end on: where the next such tick ends
    closing = [0] * len(ticks)
    for number, (start, stop) in reversed(list(enumerate(ticks))):
        closing[number] = ends.get(stop - start, 0)
        ends[stop - start] = stop
    parts, at = [], 0
    for (start, _stop), end in zip(ticks, closing, strict=True):
        if end and start >= at:
            parts += [line[at:start], "\0" * (end - start)]
            at = end
    return "".join([*parts, line[at:]])


def _value(line: str, match: re.Match[str]) -> tuple[str, int]:
    if match["given"] is not None:
        return line[slice(*match.span("given"))].strip("`\"'"), match.end()
    following = _FOLLOWING.match(line, match.end())
    return (following[1].strip("`\"'"), following.end()) if following else ("", match.end())


def _take(options: MentionOptions, name: str, value: str) -> tuple[MentionOptions, str | None]:
    if not value:
        return options, f"`--{name}` needs a value, like `--{name} {_EXAMPLES[name]}`"
    if name == "cap":
        if not value.isascii() or not value.isdigit() or not 1 <= int(value[:9]) <= MAX_CAP:
            return options, f"`--cap {value}`: the cap is a whole number of attempts from 1 to {MAX_CAP}"
        taken = replace(options, cap=int(value))
    elif name == "base":
        if problem := branch_problem(value):
            return options, f"`--base {value}` is no branch name: {problem}"
        taken = replace(options, base=value)
    elif not _NAME.match(value):
        return options, f"`--{name} {value}` is no name; write it like `--{name} {_EXAMPLES[name]}`"
    else:
        taken = replace(options, runtime=value.lower()) if name == "runtime" else replace(options, model=value)
    if getattr(options, name) not in (None, getattr(taken, name)):
        return options, f"`--{name}` is given twice: `{getattr(options, name)}` and `{value}`; keep one"
    return taken, None


_COURTESIES = frozenset({"thanks", "thank", "thx", "ty", "cheers", "please", "pls", "regards", "best", "sorry", "ta"})
_EXAMPLES = {"runtime": "codex", "model": "provider/name", "base": "main", "cap": "3"}


def _unknown(name: str) -> str:
    near = difflib.get_close_matches(name, KNOWN, n=1)
    hint = f" Did you mean `--{near[0]}`?" if near else ""
    known = ", ".join(f"`--{each}`" for each in KNOWN)
    return f"`--{name}` is no option; the options are {known}.{hint} Put it in backticks if it belongs to the task."
