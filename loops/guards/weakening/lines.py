"""Finds the lines that are new and make a run green by themselves, and stand-ins for what a test asserts. Pure."""

import re
from collections.abc import Iterator, Sequence

from loops.guards import testfiles
from loops.guards.model import Finding, shown
from loops.guards.recognisers import ASSERTION, LINE, NAMES
from loops.guards.weakening.blocks import FAILS
from loops.guards.weakening.signs import ALWAYS_EQUAL, HOOKS, MODULES, PATCHES, SETTLED, SIGNS, STARTS_SERVER, Where
from loops.guards.weakening.whole import Whole, fresh

_COMMENT = re.compile(r"^(?:#(?!\[|!\[|define|pragma)|//|\*|/\*|--|<!--)")
_TRUE = re.compile(r"\breturn\s+(?:True|true)\b|^(?:true|True);?$|=>?\s*true;?$|\{\s*(?:return\s+)?true;?\s*\}")


def look(wholes: Sequence[Whole]) -> Iterator[Finding]:
    for each in wholes:
        if each.new is None or testfiles.language(each.path) is None:
            continue
        new = fresh(each)
        yield from _signs(each, new)
        yield from _equal(each, new)
        yield from _tolerant(each, new)
        yield from _conditions(each)
        if testfiles.is_test(each.path) or HOOKS.search(each.path):
            yield from _stand_ins(each, new, wholes)


def _signs(whole: Whole, new: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    kinds = _kinds(whole.path)
    after = whole.after()
    for at, line in new:
        text = line[:LINE]
        for sign in SIGNS:
            if sign.where not in kinds or not (match := sign.pattern.search(text)):
                continue
            if _COMMENT.match(text) and sign.code != "check_loosened":
                continue
            if sign.code == "check_loosened" and (whole.old is None or _explained(text, match.end())):
                continue
            if sign.what.startswith("compiles") and not re.search(
                r"\bmod \w*tests?\b", " ".join(after[at - 1 : at + 1])[: 2 * LINE]
            ):
                continue
            if sign.where == "old test" and not _in_old_test(whole, at):
                continue
            if sign.where == "product" and STARTS_SERVER.search(" ".join(after[at - 1 : at + 1])[: 2 * LINE]):
                continue
            said = f"{shown(whole.path)} line {at} {sign.what}: {shown(text[:90])}."
            yield Finding(sign.code, whole.path, said, at)
            break


def _in_old_test(whole: Whole, at: int) -> bool:
    """Whether line `at` stands in a test that was there before, or marks one."""
    pattern = NAMES.get(testfiles.language(whole.path) or "")
    if pattern is None or whole.old is None:
        return False
    before = {line.strip() for line in whole.before()}
    after = [line.strip()[:LINE] for line in whole.after()]
    mark = after[at - 1].startswith(("#[", "@", "["))
    around = after[at : at + 5] if mark else after[max(0, at - 60) : at][::-1]
    return next((head in before for head in around if pattern.search(head)), False)


def _kinds(path: str) -> set[Where]:
    if HOOKS.search(path):
        return {"hook", "test", "code"}
    if testfiles.is_test(path):
        return {"test", "old test", "code"}
    if testfiles.helps_tests(path):
        return {"test", "code"}
    if testfiles.holds_tests(path):
        return {"old test", "product", "code"}
    return {"code"} if SETTLED.search(path) else {"product", "code"}


def _explained(text: str, end: int) -> bool:
    """Whether the line says why: words after the mark, of which the names of rules are none."""
    rest = re.split(r"--|#|//|;|because", text[end:], maxsplit=1)
    return len(rest) > 1 and len(re.findall(r"[A-Za-z]{2,}", rest[1])) >= 3


def _equal(whole: Whole, new: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    after = whole.after()
    for at, line in new:
        text = line[:LINE]
        if ALWAYS_EQUAL.search(text):
            body = [each.strip()[:LINE] for each in (text[text.rfind(")") :], *after[at : at + 2])]
            first = next((each for each in body if re.search(r"\w", each.replace("bool", ""))), "")
            if _TRUE.search(first):
                said = f"{shown(whole.path)} line {at} makes a value equal to everything: {shown(text[:90])}."
                yield Finding("run_rigged", whole.path, said, at)


def _tolerant(whole: Whole, new: Sequence[tuple[int, str]]) -> Iterator[Finding]:
    """A decorator of tests that is new and catches what they raise."""
    if not testfiles.is_test(whole.path):
        return
    after = whole.after()
    marks = {line[1:].split("(")[0] for _, line in new if line.startswith("@")}
    for at, line in new:
        match = re.match(r"def (\w+)\(", line)
        if match and match[1] in marks:
            body = [each.strip()[:LINE] for each in after[at : at + 15]]
            if any(re.match(r"except\b(?!.*\bSkip)", each) for each in body) and not any(
                each.startswith("raise") for each in body
            ):
                said = f"{shown(whole.path)} line {at} catches what tests raise: {shown(line[:90])}."
                yield Finding("run_rigged", whole.path, said, at)


def _conditions(whole: Whole) -> Iterator[Finding]:
    """The condition of a failure, which is the assertion where a language has no other."""
    if whole.old is None or not testfiles.is_test(whole.path):
        return
    was, now = _guards(whole.before()), _guards(whole.after())
    gone = [each for each in was if each not in now]
    came = [each for each in now if each not in was]
    for old, text in zip(gone, came, strict=False):
        if ("!=" in old and "!=" not in text and "!" not in text) or text.count("&&") > old.count("&&"):
            said = f"{shown(whole.path)}: a failure asks for more now: {shown(old[:80])} became {shown(text[:80])}."
            yield Finding("assertion_weakened", whole.path, said)


def _guards(lines: Sequence[str]) -> list[str]:
    """The conditions under which a test fails."""
    found: dict[str, None] = {}
    for at, line in enumerate(lines[:-1]):
        text = line.strip()[:LINE]
        if text.startswith("if ") and FAILS.search(lines[at + 1][:LINE]):
            found[text] = None
    return list(found)


def _stand_ins(whole: Whole, new: Sequence[tuple[int, str]], wholes: Sequence[Whole]) -> Iterator[Finding]:
    """What a test calls in its assertions and, new, puts something else in the place of."""
    asked = _asked(each for each in wholes if testfiles.is_test(each.path))
    imported = _imported(whole)
    if whole.old is None and not HOOKS.search(whole.path):
        return
    for at, line in new:
        text = line[:LINE]
        if _COMMENT.match(text):
            continue
        match = PATCHES.search(text)
        name = next((group for group in match.groups() if group), "") if match else ""
        redefined = match is not None and (match.group(12) or match.group(13) or match.group(14))
        if name in asked and (not redefined or (name in imported and whole.old is not None)):
            said = (
                f"{shown(whole.path)} line {at} replaces {shown(name)}, which the tests are about: {shown(text[:90])}."
            )
            yield Finding("test_replaced", whole.path, said, at)
        elif module := MODULES.search(text):
            stem = (module[1] or module[2] or "").rsplit("/", 1)[-1].split(".")[0]
            if stem and stem == whole.path.rsplit("/", 1)[-1].split(".")[0]:
                said = (
                    f"{shown(whole.path)} line {at} replaces the module that the tests are about: {shown(text[:90])}."
                )
                yield Finding("test_replaced", whole.path, said, at)


def _asked(wholes: Iterator[Whole]) -> set[str]:
    """The names that stood in an assertion as what is called, before the turn and after it."""
    found: set[str] = set()
    for each in wholes:
        there = {line.strip() for line in each.after()} if HOOKS.search(each.path) else None
        for line in each.before():
            text = line.strip()[:LINE]
            if (there is None or text in there) and (match := ASSERTION.search(text)):
                found.update(
                    re.findall(r"(\w+)\s*\(|\.(\w+)\)", text[match.end() - 1 :])
                    and [one or other for one, other in re.findall(r"(\w+)\s*\(|\.(\w+)\)", text[match.end() - 1 :])]
                )
    return found - {
        "len",
        "str",
        "int",
        "list",
        "sorted",
        "set",
        "dict",
        "tuple",
        "any",
        "all",
        "abs",
        "repr",
        "type",
        "get",
        "json",
    }


def _imported(whole: Whole) -> set[str]:
    found: set[str] = set()
    for line in whole.before():
        text = line.strip()[:LINE]
        if re.match(r"(?:from|import|use|using|require)\b|(?:const|let|var)\b.*\brequire\(", text):
            found.update(re.findall(r"\w+", text))
    return found
