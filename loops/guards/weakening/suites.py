"""Compares the tests of whole files: who is collected, and which assertions are reached. Pure."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence

from loops.guards import testfiles
from loops.guards.model import Finding, shown
from loops.guards.recognisers import strength
from loops.guards.weakening.reach import DEAD, LIVE, Case, cases
from loops.guards.weakening.whole import Whole

_Named = dict[tuple[str, str], list[tuple[str, Case]]]


def look(wholes: Sequence[Whole]) -> Iterator[Finding]:
    """Tests that stand there and ask for less: not collected any more, or with assertions that nothing reaches."""
    old, new = _named(wholes, "old"), _named(wholes, "new")
    for key, before in old.items():
        for (_, was), (path, now) in zip(before, new.get(key, ()), strict=False):
            yield from _compared(path, was, now)
    yield from _renamed(old, new)
    yield from _commented(wholes, old, new)
    yield from _twice(old, new)


def _named(wholes: Iterable[Whole], which: str) -> _Named:
    found: _Named = defaultdict(list)
    for each in wholes:
        text = each.old if which == "old" else each.new
        path = (each.was or each.path) if which == "old" else each.path
        language = testfiles.language(path)
        if text is None or language is None or not (testfiles.holds_tests(path) or testfiles.helps_tests(path)):
            continue
        for case in cases(text.split("\n"), language):
            found[language, case.name].append((each.path, case))
    return found


def _compared(path: str, was: Case, now: Case) -> Iterator[Finding]:
    if was.collected == LIVE and now.collected != LIVE:
        how = "is never collected" if now.collected == DEAD else "is collected only under a condition"
        yield Finding("test_skipped", path, f"{shown(path)}: the test {shown(now.name)} {how} now.", now.line)
        return
    if "TestCase" in was.within and "TestCase" not in now.within and now.within.startswith("class "):
        said = f"{shown(path)}: the test {shown(now.name)} is in no test case any more, so nothing collects it."
        yield Finding("test_skipped", path, said, now.line)
    before, after = _states(was), _states(now)
    for text, states in after.items():
        lost = before.get(text, []).count(LIVE) - states.count(LIVE)
        worse = [state for state in states if state != LIVE]
        if lost > 0 and worse:
            how = DEAD if DEAD in worse else worse[0]
            said = f"{shown(path)}: in the test {shown(now.name)} {shown(text[:90])} is {how} now."
            yield Finding("assertion_unreached", path, said, now.line)
    asked = sum(state == LIVE for _, state in was.asserts)
    if asked and not any(state == LIVE for _, state in now.asserts):
        said = f"{shown(path)}: the test {shown(now.name)} asserts nothing any more."
        yield Finding("assertion_unreached", path, said, now.line)


def _states(case: Case) -> dict[str, list[str]]:
    found: dict[str, list[str]] = defaultdict(list)
    for text, state in case.asserts:
        found[text].append(state)
    return found


def _renamed(old: _Named, new: _Named) -> Iterator[Finding]:
    """Tests with another name, found again by what they assert."""
    by_assert: dict[str, tuple[str, Case]] = {}
    for key, there in new.items():
        if key not in old:
            for path, case in there:
                for text, _ in case.asserts:
                    by_assert.setdefault(text, (path, case))
    for key, there in old.items():
        if key in new:
            continue
        for _, was in there:
            heirs = Counter(id(by_assert[text][1]) for text, _ in was.asserts if text in by_assert)
            if heirs:
                best = heirs.most_common(1)[0][0]
                path, now = next(pair for pair in by_assert.values() if id(pair[1]) == best)
                yield from _compared(path, was, now)


def kept(wholes: Sequence[Whole]) -> set[str]:
    """The files in which each test asserts as much as before, if in other words."""
    old, new = _named(wholes, "old"), _named(wholes, "new")
    lost = set()
    for key, there in old.items():
        now = [_weight(case) for _, case in new.get(key, ())]
        lost |= {path for at, (path, case) in enumerate(there) if at >= len(now) or now[at] < _weight(case)}
    return {each.path for each in wholes if each.old and each.new} - lost


def _weight(case: Case) -> int:
    return sum(strength(text) for text, state in case.asserts if state == LIVE)


def _commented(wholes: Sequence[Whole], old: _Named, new: _Named) -> Iterator[Finding]:
    """Tests that stand in a comment or a string now."""
    lines = {each.path: {line.strip(): at for at, line in enumerate(each.after(), 1)} for each in wholes}
    before = {each.path: each.before() for each in wholes}
    for key, there in old.items():
        for path, case in there if key not in new else ():
            head = before[path][case.line - 1].strip() if path in before else ""
            if head and (at := lines.get(path, {}).get(head)):
                said = f"{shown(path)}: the test {shown(case.name)} stands in a comment or a string now."
                yield Finding("test_removed", path, said, at)


def _twice(old: _Named, new: _Named) -> Iterator[Finding]:
    """Names that are given twice in one place: the later one takes the place of the first."""
    for (language, name), there in new.items():
        if language not in ("python", "ruby"):
            continue
        was = Counter((path, case.within) for path, case in old.get((language, name), ()))
        now = Counter((path, case.within) for path, case in there)
        for path, case in {(path, case.within): (path, case) for path, case in there}.values():
            place = (path, case.within)
            if was[place] == 1 and now[place] > 1 and not case.within.startswith(("if ", "else")):
                said = f"{shown(path)}: another {shown(name)} on line {case.line} takes the place of the first."
                yield Finding("test_replaced", path, said, case.line)
