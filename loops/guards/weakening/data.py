"""Finds test data that was emptied, and rows of tables that tests run over. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from loops.guards import testfiles
from loops.guards.model import Finding, shown
from loops.guards.recognisers import LINE
from loops.guards.weakening.whole import Whole

_DATA = re.compile(
    r"(?i)(?:^|/)(?:tests?|__tests__|specs?|testdata|test[-_]?data|fixtures?|cassettes|corpus|samples|src/test/resources|testing)/"
)
_IS_DATA = re.compile(
    r"(?i)\.(?:json|jsonl|ya?ml|csv|tsv|txt|xml|toml|sql|html|ndjson|in|out|input|feature|http|graphql|proto|golden|data|dat|ini|cases?)$"
)
_ROW = re.compile(
    r"^(?:pytest\.param\(|\(.*\),?$|\[.*\],?$|\{.*\},?$|\[(?:\w+,\s*)*(?:InlineData|TestCase|DataRow|Arguments)\b|#\[(?:test_)?case\b|@(?:case|example|CsvSource|ValueSource|EnumSource|Example)\b|@TestWith|arguments\(|Arguments\.of\(|row\("
    r"|\"[^\"]*\",?$|'[^']*'\s*=>\s*\[.*\],?$|\|.*\|$|\"[^\"]*\":\s*(?:\{.*\}|\[.*\]),?$|where\b)"
)
_TABLE = re.compile(
    r"(?:parametrize|parameterized\.expand|\.each|ValueSource|CsvSource|MethodSource|EnumSource|TestCases?|InlineData|values)\b\s*\(|\brange\b|\bfor\b.*\b(?:in|of)\b\s*[\[(]|@pytest\.fixture\(.*params\s*=|\bsubTest|%w\[|:=\s*\[\]\w+\{|=\s*\[|=\s*\("
)
_KEPT = 0.5
"""The share of its lines below which data counts as emptied."""


def look(wholes: Sequence[Whole]) -> Iterator[Finding]:
    moved = Counter(" ".join(line.split()) for each in wholes for line in each.after())
    stood = Counter(" ".join(line.split()) for each in wholes for line in each.before())
    for each in wholes:
        if each.old is None:
            continue
        if is_data(each.path) and (each.new is None or not testfiles.is_test(each.path)):
            yield from _emptied(each, moved)
        elif each.new is not None and testfiles.holds_tests(each.path):
            yield from _rows(each, moved, stood)


def is_data(path: str) -> bool:
    """Whether the file holds data for tests."""
    return bool(_DATA.search(path) and _IS_DATA.search(path)) or path.endswith(".feature")


def _emptied(whole: Whole, moved: Counter[str]) -> Iterator[Finding]:
    before = [text for line in whole.before() if (text := " ".join(line.split()))]
    if whole.new is None:
        if any(moved[text] for text in before[:40]) or not before:
            return
        yield Finding("test_data_emptied", whole.path, f"{shown(whole.path)}, data of tests, was deleted.")
        return
    size, now = len("".join(before)), len("".join(whole.new.split()))
    if size > 8 and now < _KEPT * len("".join("".join(before).split())):
        said = f"{shown(whole.path)}, data of tests, lost most of what it held."
        yield Finding("test_data_emptied", whole.path, said)


def _rows(whole: Whole, moved: Counter[str], stood: Counter[str]) -> Iterator[Finding]:
    lost, came = 0, 0
    first = ""
    for lines, other, sign in ((whole.before(), moved, "-"), (whole.after(), stood, "+")):
        here = Counter(" ".join(line.split()) for line in (whole.after() if sign == "-" else whole.before()))
        for line in lines:
            text = " ".join(line.split())[:LINE]
            if here[text] > 0:
                here[text] -= 1
            elif _ROW.match(text) and len(text) > 2 and not other[text]:
                if sign == "-":
                    lost, first = lost + 1, first or text
                else:
                    came += 1
    if lost > came and lost - came >= 1 and _removed_rows(whole):
        said = f"{shown(whole.path)}: {lost - came} fewer rows for tests to run over, among them {shown(first[:80])}."
        yield Finding("case_removed", whole.path, said)
        return
    yield from _shorter(whole)


def _removed_rows(whole: Whole) -> bool:
    """Whether what feeds tests stands in the file at all: a row of something else is none."""
    return any(
        _TABLE.search(line.strip()[:LINE])
        or re.match(
            r"\s*(?:\[(?:InlineData|TestCase|DataRow)|#\[case|@(?:case|example|TestWith|CsvSource|ValueSource)|\|)",
            line[:LINE],
        )
        for line in whole.before()
    )


def _shorter(whole: Whole) -> Iterator[Finding]:
    """A table on one line that holds fewer values than before."""
    before = {_head(line): line for line in whole.before() if _TABLE.search(line.strip()[:LINE])}
    for at, line in enumerate(whole.after(), 1):
        if not _TABLE.search(line.strip()[:LINE]):
            continue
        was = before.get(_head(line))
        if was is None or was.strip() == line.strip() or _values(line) >= _values(was) or _open(was) != _open(line):
            continue
        old, new = _members(was), _members(line)
        if new < old:
            said = f"{shown(whole.path)} line {at} gives tests fewer values: {shown(line.strip()[:90])}."
            yield Finding("case_removed", whole.path, said, at)


def _head(line: str) -> str:
    return re.split(r"[\[{]|\(\s*[\"']?\d", line.strip()[:LINE], maxsplit=1)[0]


def _values(line: str) -> int:
    return line.count(",")


def _open(line: str) -> int:
    return sum(line.count(each) for each in "([{") - sum(line.count(each) for each in ")]}")


def _members(line: str) -> set[str]:
    return set(re.findall(r"\"[^\"]*\"|'[^']*'|-?\d[\w.]*|\w+", line[:LINE]))
