"""Whether a setting asks for less than before, by what it means. Pure."""

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from loops.guards.weakening.patterns import covered
from loops.guards.weakening.setting_keys import WORKFLOW, Key

_SEVERITY = {
    word: rank
    for rank, words in enumerate(
        (
            "off none allow ignore false silent disable",
            "info hint suggestion note refactoring",
            "warn warning",
            "error deny forbid fatal",
        )
    )
    for word in words.split()
}
_NUMBERED = re.compile(r"eslint|stylelint|oxlint|biome|tslint|htmlhint|commitlint")
"""Files in which 0, 1 and 2 are severities."""
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?=%?$)")
GENERATED = re.compile(
    r"(?i)(?:^|/|\*|!)\.?(?:dist|build|out|output|node_modules|vendor|venv|env|target|coverage|htmlcov|generated|gen"
    r"|__pycache__|third[_-]party|\.next|\.nuxt|\.tox|\.nox|\.git|\.cache|\.eggs?|site-packages|_build|storybook-static"
    r"|migrations|docs?|examples?|\.\w+_cache|tmp|public|bin|obj|proto|pb2?|lib)(?:$|/|\b)"
    r"|_pb2|\.min\.|\.d\.ts|\.g\.|\.generated"
)
"""What checkers rightly leave out: it was written by a program or by others."""
_DOCS = re.compile(
    r"(?i)\.(?:md|mdx|rst|txt|adoc|png|svg|jpe?g|gif)$|^(?:!?\*?\*?/?)?docs?(?:/|$)|license|changelog|readme"
    r"|\.github/(?:issue|pull)|codeowners|\.gitignore|\.editorconfig|\.vscode|\.idea"
)
_MANIFEST = re.compile(
    r"(?:pyproject\.toml|setup\.(?:py|cfg)|package\.json|Cargo\.toml|go\.mod|composer\.json|\.gemspec|pom\.xml)$"
)
_TRUE = frozenset(("true", "yes", "on", "1", "error", "strict", "enable", "all", "standard", "always"))
_FALSE = frozenset(("false", "no", "off", "0", "none", "disable", "basic", "never", "skip", "silent"))


@dataclass(frozen=True, slots=True)
class Setting:
    """The words of a setting before and after (None: it was not there); the changed paths, and what some were named
    before."""

    path: str
    name: str
    was: list[str] | None
    now: list[str] | None
    paths: Sequence[str] = ()
    renamed: Sequence[str] = ()

    @property
    def in_workflow(self) -> bool:
        return bool(WORKFLOW.search(self.path))


def less(key: Key, setting: Setting) -> str:
    """What shows that the setting asks for less; "" where it does not."""
    before, after = setting.was or [], setting.now or []
    if key.kind in ("floor", "ceiling"):
        return _numbers(key.kind, before, after, gone=setting.now is None)
    if key.kind in ("on", "off"):
        return _switch(key.kind, setting)
    lost = list((Counter(before) - Counter(after)).keys())
    gained = list((Counter(after) - Counter(before)).keys())
    if key.kind == "leaves":
        return _left_out(setting, lost, gained)
    if key.kind == "image":
        return next((each for each in lost if not any(_image(each) == _image(one) for one in gained)), "")
    if key.kind == "rules":
        return next((each for each in lost if not any(each.startswith(one) or one == "ALL" for one in after)), "")
    return _fewer(setting, before, after, lost, gained)


def weaker(setting: Setting) -> str:
    """What shows that a rule with a severity became weaker; "" where it did not."""
    was, now = setting.was, setting.now
    numbers = bool(_NUMBERED.search(setting.path))
    before, after = _rank(was, numbers), _rank(now, numbers)
    if was is None:
        return " ".join(now or ()) if after == 0 else ""
    if before is None:
        return ""
    if now is None:
        return "gone" if before > 1 and (numbers or "lint" in setting.name) else ""
    if after is not None and after < before:
        return f"{' '.join(was)} became {' '.join(now)}"
    if re.search(r"complexity|max-", setting.name):
        return _numbers("ceiling", was[1:], now[1:], gone=False)
    return ""


def _rank(words: list[str] | None, numbers: bool) -> int | None:
    if not words:
        return None
    if numbers and words[0] in ("0", "1", "2"):
        return (0, 2, 3)[int(words[0])]
    return _SEVERITY.get(words[0].lower())


def _left_out(setting: Setting, lost: Sequence[str], gained: Sequence[str]) -> str:
    if setting.name.endswith("filterwarnings"):
        return next((each for each in gained if each.startswith(("ignore", "default"))), "")
    if setting.was is None and setting.now == [] and setting.in_workflow:
        return "new"
    new = [
        each
        for each in gained
        if not GENERATED.search(each) and not each.startswith("!") and each.lower() not in _SEVERITY
    ]
    if setting.in_workflow:
        new = [each for each in new if not _DOCS.search(each)]
    return next((each for each in (*new, *lost) if each in new or each.startswith("!")), "")


def _image(word: str) -> str:
    return re.split(r"[:@]", word.rsplit("/", 1)[-1])[0]


def _fewer(setting: Setting, before: list[str], after: list[str], lost: Sequence[str], gained: Sequence[str]) -> str:
    if not before:
        return _narrowed(setting, after)
    if setting.now is None:
        return next(iter(lost), "") if setting.in_workflow else ""
    moved = [
        each for each in lost if (stem := each.strip("./*")) and any(was.startswith(stem) for was in setting.renamed)
    ]
    missing = [each for each in lost if each not in moved and not covered(each, after)]
    if setting.in_workflow and missing:
        versions = all(re.match(r"v?\d", each) for each in missing)
        # a row in whose place another came, or whose support ends in the same change
        if versions and (len(missing) <= len(gained) or any(_MANIFEST.search(path) for path in setting.paths)):
            return ""
        if len(before) == 1 and gained and re.search(r"-(?:latest|\d)", missing[0]):
            return ""
    return next(iter(missing), "")


def _narrowed(setting: Setting, after: list[str]) -> str:
    """What a new setting leaves out: it names single files, or deep folders, where all were taken before."""
    if setting.in_workflow:
        if setting.name == "types":
            return "" if {"opened", "synchronize"} & set(after) else " ".join(after)
        return " ".join(after) if setting.name in ("paths", "only") else ""
    return next((each for each in after if _special(each)), "")


def _special(path: str) -> bool:
    return "*" not in path.rsplit("/", 1)[-1] and (bool(re.search(r"\.\w+$", path)) or path.count("/") > 1)


def _numbers(kind: str, before: Sequence[str], after: Sequence[str], *, gone: bool) -> str:
    old, new = _read(before), _read(after)
    if not old:
        return ""
    if kind == "floor" and (gone or len(new) < len(old)):
        return " ".join(before)
    worse = any(now < was if kind == "floor" else now > was for was, now in zip(old, new, strict=False))
    return f"{' '.join(before)} became {' '.join(after)}" if worse else ""


def _read(words: Sequence[str]) -> list[float]:
    return [float(match[0]) for each in words if (match := _NUMBER.match(each))]


def _switch(kind: str, setting: Setting) -> str:
    before = [each.lower() for each in setting.was or ()]
    after = [each.lower() for each in setting.now or ()]
    told = " ".join(setting.now or ["gone"])
    if kind == "on":
        return (
            told
            if _count(before, _TRUE) > _count(after, _TRUE) or _count(after, _FALSE) > _count(before, _FALSE)
            else ""
        )
    return told if _count(after, _TRUE) > _count(before, _TRUE) else ""


def _count(words: Sequence[str], of: frozenset[str]) -> int:
    return sum(word in of for word in words)
