"""Compares the settings of test runners and checkers, before and after: fewer tests, lower floors, looser rules. Pure."""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from loops.guards.model import Finding, shown
from loops.guards.weakening.patterns import covered
from loops.guards.weakening.setting_keys import EVERY, KEYS, LINT, LISTS, SECTIONED, TOOLS, WORKFLOW, Key
from loops.guards.weakening.setting_values import Values, read
from loops.guards.weakening.whole import Whole

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
_ESLINT = re.compile(r"eslint|stylelint|oxlint|biome|tslint|htmlhint|commitlint")
_TRIGGERS = ("push", "pull_request", "merge_group", "pull_request_target", "schedule", "merge_requests")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?(?=%?$)")
_GENERATED = re.compile(
    r"(?i)(?:^|/|\*|!)\.?(?:dist|build|out|output|node_modules|vendor|venv|\.venv|env|target|coverage|htmlcov|generated|gen|__pycache__|third[_-]party|\.next|\.nuxt"
    r"|\.tox|\.nox|\.git|\.cache|\.eggs?|site-packages|_build|storybook-static|migrations|docs?|examples?|\.\w+_cache|tmp|public|bin|obj|proto|pb2?|lib)(?:$|/|\b)|_pb2|\.min\.|\.d\.ts|\.g\.|\.generated"
)
_DOCS = re.compile(
    r"(?i)\.(?:md|mdx|rst|txt|adoc|png|svg|jpe?g|gif)['\"]?$|^(?:!?\*?\*?/?)?docs?(?:/|$)|license|changelog|readme|\.github/(?:issue|pull)|codeowners|\.gitignore|\.editorconfig|\.vscode|\.idea"
)
_TRUE = frozenset(("true", "yes", "on", "1", "error", "strict", "enable", "all", "standard", "always"))
_FALSE = frozenset(("false", "no", "off", "0", "none", "disable", "basic", "never", "skip", "silent"))


def look(wholes: Sequence[Whole]) -> Iterator[Finding]:
    """Settings that ask for less. What moved from one file to another asks for the same."""
    settings = [each for each in wholes if EVERY.search(each.path)]
    old: dict[str, Values] = {each.path: read(each.path, each.old) for each in settings if each.old is not None}
    new: dict[str, Values] = {each.path: read(each.path, each.new) for each in settings if each.new is not None}
    moved_in = _all(values for path, values in new.items() if path not in old)
    moved_out = _all(values for path, values in old.items() if path not in new)
    for path in old.keys() & new.keys():
        for name in dict.fromkeys([*old[path], *new[path]]):
            if SECTIONED.search(path) and not TOOLS.search(name.partition(":")[0]):
                continue
            was, now = old[path].get(name), new[path].get(name)
            triggers = name in _TRIGGERS and WORKFLOW.search(path) and was is not None and now is None
            if triggers and name not in new[path].get("on", ()):
                yield _finding("tests_narrowed", path, name, "no longer starts a run", name)
            if was == now or (was and not now and moved_in[name.rpartition(":")[2]] >= len(was)):
                continue
            yield from _setting(path, name, was, now, moved_out, wholes)
    for each in wholes:
        if LISTS.search(each.path) and each.new is not None:
            before = set(map(str.strip, each.before()))
            for at, line in enumerate(each.after(), 1):
                text = line.strip()
                if text and not text.startswith(("#", "//")) and text not in before and not _GENERATED.search(text):
                    said = f"{shown(each.path)} line {at} leaves more out: {shown(text[:90])}."
                    yield Finding("check_loosened", each.path, said, at)
        if (
            each.new is None
            and each.old
            and LINT.search(each.path)
            and not any(LINT.search(one.path) and one.old is None for one in wholes)
        ):
            yield Finding("check_loosened", each.path, f"{shown(each.path)}, settings of a checker, was deleted.")


def _all(many: Iterator[Values] | object) -> Counter[str]:
    found: Counter[str] = Counter()
    for values in many:  # type: ignore[attr-defined]
        for name, words in values.items():
            found[name.rpartition(":")[2]] += len(words)
    return found


def _setting(
    path: str, name: str, was: list[str] | None, now: list[str] | None, moved_out: Counter[str], wholes: Sequence[Whole]
) -> Iterator[Finding]:
    for key in KEYS:
        if key.file.search(path) and key.name.search(name):
            if less := _less(key, path, was, now, wholes):
                yield _finding(key.code, path, name, key.what, less)
            return_early = key.kind in ("floor", "ceiling", "on", "off")
            if less or not return_early:
                return
    if LINT.search(path) and (less := _severity(path, was, now)):
        yield _finding("check_loosened", path, name, "makes a rule weaker", less)


def _finding(code: str, path: str, name: str, what: str, less: str) -> Finding:
    return Finding(code, path, f"{shown(path)}: {shown(name.rpartition(':')[2][:60])} {what} now: {shown(less[:90])}.")


def _less(key: Key, path: str, was: list[str] | None, now: list[str] | None, wholes: Sequence[Whole]) -> str:
    """What shows that the setting asks for less; "" where it does not."""
    before, after = was or [], now or []
    if key.kind in ("floor", "ceiling"):
        return _numbers(key.kind, before, after, gone=now is None)
    if key.kind in ("on", "off"):
        return _switch(key.kind, was, now)
    lost = list((Counter(before) - Counter(after)).keys())
    gained = list((Counter(after) - Counter(before)).keys())
    if key.kind == "leaves":
        gained = [
            each
            for each in gained
            if not _GENERATED.search(each) and not each.startswith("!") and not _severity_word(each)
        ]
        if key.code == "tests_narrowed" and WORKFLOW.search(path):
            gained = [each for each in gained if not _DOCS.search(each)]
        if was is None and not after and WORKFLOW.search(path):
            return "new"
        widened = [each for each in lost if each.startswith("!")]
        return (gained or widened or [""])[0]
    if key.kind == "rules":
        if key.name.search("image"):
            return next(
                (each for each in lost if gained and not any(_image(each) == _image(one) for one in gained)), ""
            )
        return next((each for each in lost if not any(each.startswith(one) or one == "ALL" for one in after)), "")
    return _fewer(path, before, after, lost, gained, gone=now is None, wholes=wholes)


def _image(word: str) -> str:
    return re.split(r"[:@]", word.rsplit("/", 1)[-1])[0]


def _fewer(
    path: str,
    before: list[str],
    after: list[str],
    lost: list[str],
    gained: list[str],
    *,
    gone: bool,
    wholes: Sequence[Whole],
) -> str:
    if not before:
        special = [
            each
            for each in after
            if re.search(r"\.\w+$", each)
            and "*" not in each.rsplit("/", 1)[-1]
            or each.count("/") > 1
            and "*" not in each
        ]
        narrow = WORKFLOW.search(path) and not gone and any("/" in each or "*" in each for each in after)
        return (special or (after if narrow else []) or [""])[0]
    if gone:
        return (lost or [""])[0] if WORKFLOW.search(path) else ""
    renamed = [each.was for each in wholes if each.was]
    lost = [each for each in lost if not any(was.startswith(each.strip("./*")) for was in renamed if each.strip("./*"))]
    lost = [each for each in lost if not covered(each, after)]
    if WORKFLOW.search(path) and all(re.match(r"[\"']?v?\d", each) for each in lost):
        # a row that was replaced by a newer one, or a version whose support ended in the same change
        if len(lost) <= len(gained) and len(before) > 1 or (len(before) == 1 and gained):
            return ""
        if any(
            re.search(
                r"(?:pyproject\.toml|setup\.(?:py|cfg)|package\.json|Cargo\.toml|go\.mod|composer\.json|gemspec|pom\.xml)$",
                each.path,
            )
            for each in wholes
        ):
            return ""
    elif WORKFLOW.search(path) and lost and len(before) == 1 and gained and re.search(r"-(?:latest|\d)", lost[0]):
        return ""
    return (lost or [""])[0]


def _numbers(kind: str, before: list[str], after: list[str], *, gone: bool) -> str:
    old = [float(match[0]) for each in before if (match := _NUMBER.match(each.rstrip("%")))]
    new = [float(match[0]) for each in after if (match := _NUMBER.match(each.rstrip("%")))]
    if not old:
        return (
            ""
            if kind == "floor" or not new or max(new) <= 0
            else " ".join(after)
            if before == [] and max(new) < 100 and len(new) == 1 and False
            else ""
        )
    if kind == "floor" and (gone or len(new) < len(old)):
        return " ".join(before)
    pairs = zip(old, new, strict=False)
    worse = any(now < was if kind == "floor" else now > was for was, now in pairs)
    return f"{' '.join(before)} became {' '.join(after)}" if worse else ""


def _switch(kind: str, was: list[str] | None, now: list[str] | None) -> str:
    before, after = [each.lower() for each in was or ()], [each.lower() for each in now or ()]
    if kind == "on":
        lost = _count(before, _TRUE) > _count(after, _TRUE) and (was is not None)
        gained = _count(after, _FALSE) > _count(before, _FALSE)
        return " ".join(now or ["gone"]) if lost or gained else ""
    return (
        " ".join(now or ())
        if _count(after, _TRUE) > _count(before, _TRUE) or _count(before, _FALSE) > _count(after, _FALSE) and bool(now)
        else ""
    )


def _count(words: list[str], of: frozenset[str]) -> int:
    return sum(word in of for word in words)


def _severity_word(word: str) -> bool:
    return word.lower() in _SEVERITY


def _severity(path: str, was: list[str] | None, now: list[str] | None) -> str:
    numbers = bool(_ESLINT.search(path))
    before, after = _rank(was, numbers), _rank(now, numbers)
    if was is None and after == 0 and not any("/" in each and "*" in each for each in now or ()):
        return " ".join(now or ())
    if before is None:
        return ""
    if now is None:
        return "gone" if before > 1 and numbers else ""
    return f"{' '.join(was or ())} became {' '.join(now)}" if after is not None and after < before else ""


def _rank(words: list[str] | None, numbers: bool) -> int | None:
    for word in (words or ())[:1]:
        if numbers and word in ("0", "1", "2"):
            return (0, 2, 3)[int(word)]
        return _SEVERITY.get(word.lower())
    return None
