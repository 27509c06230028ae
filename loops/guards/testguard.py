"""The test guard: tests that went away, skips that came, assertions that ask for less. Pure.

A line that only moved, inside a file or to another, is no change; nor is a test with another name and the same body.
"""

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from k8s.runner.protocol import Change
from loops.guards import testfiles, weakening
from loops.guards.assertions import weakened
from loops.guards.model import Finding, shown
from loops.guards.patch import Line, Patch
from loops.guards.recognisers import HARMLESS, LINE, MARKERS, NAMES, ONLY, RUNS_TESTS, SKIPS
from loops.guards.weakening.whole import Whole

ALWAYS = (
    "test_deleted",
    "test_removed",
    "test_skipped",
    "assertion_removed",
    "assertion_weakened",
    "step_disabled",
    *weakening.CODES,
)
IN_REPAIRS = ("expectation_changed", "snapshot_changed")
"""What is a wish like any other where somebody asked for another behaviour, and suspicious where nobody did."""

_MARKER_REACH = 8
_COMMENT = re.compile(r"^(?://(?!go:build| \+build)|#(?!\[)|\*|/\*|--|<!--)")
_RUNS_NOTHING = re.compile(
    r"(?:-\s*)?(?:name|uses|key|description)\s*:|#|pip3? install"
    r"|.*\b(?:pip|npm|apt-get|brew|yarn|poetry|uv) (?:install|add)\b"
)
_WORD = re.compile(r"[A-Za-z_]\w*")
_WORDS = 4
_SAME_WORDS = 0.8
"""The share of a test's words that a test of another name has to say to be the same one."""
_MOST = 30


@dataclass(frozen=True)
class _Test:
    name: str
    line: int
    changed: bool
    body: tuple[str, ...]
    numbers: frozenset[int]


def look(changes: Sequence[Change], patches: Sequence[Patch], wholes: Sequence[Whole] = ()) -> tuple[Finding, ...]:
    """Everything about tests that a reviewer should know before merging. `wholes`: the text of changed files before and
    after, where it is known."""
    moved_in = _squeezed(line for each in patches for line in each.added())
    moved_out = _squeezed(line for each in patches for line in each.removed())
    removed: dict[str, list[_Test]] = {}
    added: Counter[tuple[str | None, str]] = Counter()
    for each in patches:
        old, new = _tests(each, "-"), _tests(each, "+")
        removed[each.path] = old
        added.update((testfiles.language(each.path), test.name) for test in new if test.changed)
    found: list[Finding] = [*_files(changes, patches, removed, added)]
    named = {finding.path for finding in found}
    gone: dict[str, frozenset[int]] = {}
    for each in patches:
        if each.path in named:
            continue
        lost = _lost(each, removed[each.path], added)
        gone[each.path] = frozenset[int]().union(*(test.numbers for test in lost))
        found += (_removed(each.path, test) for test in lost)
    for each in patches:
        if each.path not in named:
            found += _skips(each, moved_out, relocated=_holds_moved(each, removed, added))
            if _asserts(each.path) and each.old is not None:
                found += weakened(each, moved_in, moved_out, gone.get(each.path, frozenset()))
            found += _steps(each, moved_out, patches)
    kept = weakening.kept(wholes)
    found = [each for each in found if each.code != "assertion_removed" or each.path not in kept]
    return _bounded([*found, *_more(found, weakening.look(wholes))])


def _more(found: Sequence[Finding], others: Iterable[Finding]) -> Iterator[Finding]:
    """What `others` add: a file is not named twice for one reason, nor what is in a file that is gone."""
    said = {(each.path, each.code) for each in found}
    # an assertion that is not reached since its test is skipped, or that is gone, was said
    for path, code in list(said):
        if code in ("test_skipped", "assertion_removed"):
            said |= {(path, "assertion_unreached"), (path, "run_rigged")}
    gone = {each.path for each in found if each.code == "test_deleted"}
    return (each for each in others if each.path not in gone and (each.path, each.code) not in said)


def _squeezed(lines: Iterable[Line]) -> Counter[str]:
    return Counter(" ".join(line.text.split()) for line in lines)


def _asserts(path: str) -> bool:
    return testfiles.holds_tests(path) or testfiles.helps_tests(path)


def _tests(patch: Patch, sign: str) -> list[_Test]:
    """The tests in the old ("-") or new ("+") reading of the hunks; `changed` if their head is not mere context."""
    path = (patch.old if sign == "-" else patch.new) or ""
    language = testfiles.language(path)
    if language is None or not testfiles.holds_tests(path):
        return []
    found: list[_Test] = []
    for hunk in patch.hunks:
        view = [line for line in hunk.lines if line.sign in (" ", sign)]
        heads = list(_heads(view, language))
        for position, (index, name, changed) in enumerate(heads):
            end = heads[position + 1][0] if position + 1 < len(heads) else len(view)
            inside = view[index + 1 : end]
            body = tuple(" ".join(line.text.split()) for line in inside if line.text.strip(" \t{}()[];,"))
            numbers = frozenset(line.number for line in inside if line.sign == sign)
            found.append(_Test(name, view[index].number, changed, body, numbers))
    return found


def _heads(view: Sequence[Line], language: str) -> Iterator[tuple[int, str, bool]]:
    pattern, marker = NAMES[language], MARKERS.get(language)
    for index, line in enumerate(view):
        text = line.text.strip()[:LINE]
        match = pattern.search(text)
        if not match or _COMMENT.match(text):
            continue
        changed = line.sign != " "
        if marker and not marker.search(text):
            above = _marked(view, index, marker)
            if above is None:
                continue
            changed = changed or above.sign != " "
        yield index, next((group for group in match.groups() if group), match.group()), changed


def _marked(view: Sequence[Line], index: int, marker: re.Pattern[str]) -> Line | None:
    for line in reversed(view[max(0, index - _MARKER_REACH) : index]):
        text = line.text.strip()[:LINE]
        if marker.search(text):
            return line
        # only other attributes, comments and blank lines stand between a mark and its test
        if text and not text.startswith(("@", "[", "#", "//", "*", "/*")) and not text.endswith((")", "]", ",")):
            return None
    return None


def _files(
    changes: Sequence[Change],
    patches: Sequence[Patch],
    removed: dict[str, list[_Test]],
    added: Counter[tuple[str | None, str]],
) -> Iterator[Finding]:
    edited = {each.path for each in patches if each.old is not None}
    for change in changes:
        path = change.path
        if change.sha is None and testfiles.is_test(path):
            names = [test.name for test in removed.get(path, ())]
            kept = sum((testfiles.language(path), name) in added for name in names)
            if (not names and path in removed) or (names and kept * 2 >= len(names)):
                continue
            tests = f" with {len(names)} test{'s' * (len(names) != 1)}" if names else ""
            yield Finding("test_deleted", path, f"The test file {shown(path)}{tests} was deleted.")
        elif change.old_path and testfiles.named_as_test(change.old_path) and not testfiles.is_test(path):
            text = f"The test file {shown(change.old_path)} became {shown(path)}, where no test runner looks."
            yield Finding("test_deleted", path, text)
        elif testfiles.is_snapshot(path) and (change.sha is None or path in edited):
            yield Finding("snapshot_changed", path, f"Expected output was edited: {shown(path)}.")


def _lost(patch: Patch, old: Sequence[_Test], added: Counter[tuple[str | None, str]]) -> list[_Test]:
    """The tests of the old reading that are nowhere in the new one."""
    language = testfiles.language(patch.old or "")
    new = _tests(patch, "+")
    still = {test.name for test in new}
    before = {test.name for test in old}
    fresh = [test for test in new if test.changed and test.name not in before]
    lost: list[_Test] = []
    for test in old:
        if not test.changed or test.name in still or added[language, test.name]:
            continue
        heir = next((each for each in fresh if _same_body(test, each)), None)
        if heir is not None:
            fresh.remove(heir)
        else:
            lost.append(test)
    return lost


def _same_body(old: _Test, new: _Test) -> bool:
    if not old.body:
        return True
    kept = Counter(old.body) & Counter(new.body)
    if kept.total() * 2 >= len(old.body):
        return True
    # a test that became a table says the same words about other values
    words, there = set(_WORD.findall(" ".join(old.body))), set(_WORD.findall(" ".join(new.body)))
    return len(words) >= _WORDS and len(words & there) >= _SAME_WORDS * len(words)


def _removed(path: str, test: _Test) -> Finding:
    return Finding("test_removed", path, f"The test {shown(test.name)} was removed from {shown(path)}.", test.line)


def _holds_moved(patch: Patch, removed: dict[str, list[_Test]], added: Counter[tuple[str | None, str]]) -> bool:
    here = {test.name for test in _tests(patch, "+") if test.changed}
    return any(test.name in here for path, tests in removed.items() if path != patch.path for test in tests)


def _skips(patch: Patch, moved_out: Counter[str], *, relocated: bool) -> Iterator[Finding]:
    language = testfiles.language(patch.path)
    pattern = SKIPS.get(language or "")
    # the helpers of tests can leave whole files out
    if pattern is None or not (testfiles.holds_tests(patch.path) or patch.path.endswith("conftest.py")):
        return
    left = Counter(moved_out)
    for line in patch.added():
        text = line.text.strip()[:LINE]
        if not pattern.search(text) or (
            _COMMENT.match(text) and not text.startswith(("#[", "//go:build", "// +build"))
        ):
            continue
        squeezed = " ".join(line.text.split())
        if left[squeezed] > 0:
            left[squeezed] -= 1
        elif ONLY.match(text):
            said = f"{shown(patch.path)} line {line.number} runs one test only: {shown(text[:90])}."
            yield Finding("test_skipped", patch.path, said, line.number)
        elif patch.old is not None or relocated:
            said = f"{shown(patch.path)} line {line.number} skips a test or lets it fail: {shown(text[:90])}."
            yield Finding("test_skipped", patch.path, said, line.number)


def _steps(patch: Patch, moved_out: Counter[str], patches: Sequence[Patch]) -> Iterator[Finding]:
    path = patch.path
    if not testfiles.is_step(path) or patch.old is None:
        return
    for line in patch.added():
        text = line.text.strip()[:LINE]
        if HARMLESS.search(text) and not _COMMENT.match(text) and not moved_out[" ".join(line.text.split())]:
            said = f"{shown(path)} line {line.number} hides a failure or runs fewer tests: {shown(text[:90])}."
            yield Finding("step_disabled", path, said, line.number)
    now = [_command(line.text) for each in patches if testfiles.is_step(each.path) for line in each.added()]
    kept = {_command(line.text) for hunk in patch.hunks for line in hunk.lines if line.sign == " "}
    for line in patch.removed():
        command = _command(line.text)
        if command and command not in now and command not in kept:
            said = f"{shown(path)} no longer runs {shown(command)}, which stood on line {line.number}."
            yield Finding("step_disabled", path, said, line.number)


def _command(text: str) -> str:
    stripped = text.strip()[:LINE]
    match = RUNS_TESTS.search(stripped)
    # words in a name or a list of packages run nothing
    runs = re.match(r"(?:-\s*)?(?:run|script|command)s?\b\s*:?|[-@]?\s*[\w./$({-]+ |\"test", stripped)
    named = _RUNS_NOTHING.match(stripped)
    return match.group() if match and runs and not named else ""


def _bounded(findings: Iterable[Finding]) -> tuple[Finding, ...]:
    unique = list(dict.fromkeys(findings))
    unique.sort(key=lambda each: (each.path, each.line or 0, each.code))
    return tuple(unique[:_MOST])
