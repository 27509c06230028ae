"""Compares settings of test runners and checkers before and after: fewer tests, lower floors, looser rules. Pure."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from loops.guards.model import Finding, shown
from loops.guards.weakening.less import GENERATED, Setting, less, weaker
from loops.guards.weakening.setting_keys import EVERY, KEYS, LINT, LISTS, SECTIONED, TOOLS, WORKFLOW
from loops.guards.weakening.setting_values import Values, read
from loops.guards.weakening.whole import Whole

_TRIGGERS = ("push", "pull_request", "merge_group", "pull_request_target", "merge_requests")
_NUMBERS = ("floor", "ceiling")
_ONE_ANSWER = ("floor", "ceiling", "on", "off")
"""Kinds of settings whose names other tools use for something else: the next key of that name is asked as well."""


def look(wholes: Sequence[Whole]) -> Iterator[Finding]:
    """Settings that ask for less. What moved from one file to another asks for the same."""
    settings = [each for each in wholes if EVERY.search(each.path)]
    old = {each.path: read(each.path, each.old) for each in settings if each.old is not None}
    new = {each.path: read(each.path, each.new) for each in settings if each.new is not None}
    moved_in = _counted(values for path, values in new.items() if path not in old)
    paths = [each.path for each in wholes]
    renamed = [each.was for each in wholes if each.was]
    for path in sorted(old.keys() & new.keys()):
        yield from _file(path, old[path], new[path], moved_in, paths, renamed)
    for each in wholes:
        if LISTS.search(each.path) and each.new is not None:
            yield from _listed(each)
        if each.new is None and each.old and LINT.search(each.path) and not _followed(wholes):
            yield Finding("check_loosened", each.path, f"{shown(each.path)}, settings of a checker, was deleted.")


def _counted(many: Iterable[Values]) -> Counter[str]:
    """How many words there are for each name."""
    found: Counter[str] = Counter()
    for values in many:
        for name, words in values.items():
            found[name.rpartition(":")[2]] += len(words)
    return found


def _followed(wholes: Sequence[Whole]) -> bool:
    return any(LINT.search(each.path) and each.old is None for each in wholes)


def _file(
    path: str, old: Values, new: Values, moved_in: Mapping[str, int], paths: Sequence[str], renamed: Sequence[str]
) -> Iterator[Finding]:
    for name in dict.fromkeys([*old, *new]):
        section, _, short = name.rpartition(":")
        if SECTIONED.search(path) and not TOOLS.search(section):
            continue
        was, now = old.get(name), new.get(name)
        if was == now or (was and not now and moved_in[short] >= len(was)):
            continue
        if name in _TRIGGERS and now is None and WORKFLOW.search(path) and name not in new.get("on", ()):
            yield _finding("tests_narrowed", path, name, "no longer starts a run", name)
        else:
            yield from _setting(Setting(path, name, was, now, paths, renamed))


def _setting(setting: Setting) -> Iterator[Finding]:
    path, name = setting.path, setting.name
    numbers = False
    for key in KEYS:
        if key.file.search(path) and key.name.search(name) and not (numbers and key.kind in _NUMBERS):
            numbers = numbers or key.kind in _NUMBERS
            if what := less(key, setting):
                yield _finding(key.code, path, name, key.what, what)
                return
            if key.kind not in _ONE_ANSWER:
                break
    if LINT.search(path) and (what := weaker(setting)):
        yield _finding("check_loosened", path, name, "makes a rule weaker", what)


def _finding(code: str, path: str, name: str, what: str, less: str) -> Finding:
    return Finding(code, path, f"{shown(path)}: {shown(name.rpartition(':')[2][:60])} {what} now: {shown(less[:90])}.")


def _listed(whole: Whole) -> Iterator[Finding]:
    """Lines that came to a file that is a list of what is left out."""
    before = set(map(str.strip, whole.before()))
    for at, line in enumerate(whole.after(), 1):
        text = line.strip()
        if text and not text.startswith(("#", "//")) and text not in before and not GENERATED.search(text):
            said = f"{shown(whole.path)} line {at} leaves more out: {shown(text[:90])}."
            yield Finding("check_loosened", whole.path, said, at)
