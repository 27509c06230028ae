"""Compares the commands that run tests and checkers, in CI, scripts and tasks. Pure.

They check less by fewer files, weaker options, or where their failure ends nothing.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterator, Sequence

from loops.guards import testfiles
from loops.guards.model import Finding, shown
from loops.guards.recognisers import HARMLESS, LINE
from loops.guards.weakening.command_words import (
    FORGIVES,
    HIDES,
    NARROWS,
    RUNS_CHECKS,
    SCRIPT,
    STRICT,
    STRICT_SHELL,
)
from loops.guards.weakening.patterns import covered
from loops.guards.weakening.whole import Whole

_PATHLIKE = re.compile(
    r"^(?!-)[\w@.*{}$-]*(?:[/*.][\w.*{}$,/-]*)+$|^(?:tests?|src|lib|app|spec|e2e|unit|integration|all|packages)$"
)


def look(wholes: Sequence[Whole]) -> Iterator[Finding]:
    was: dict[str, list[list[str]]] = defaultdict(list)
    now: dict[str, list[tuple[Whole, int, str, list[str]]]] = defaultdict(list)
    concerned = [each for each in wholes if runs_checks(each)]
    for each in concerned:
        if each.path.endswith(".rspec"):
            was["rspec options"].append((each.old or "").split())
            now["rspec options"].append((each, 1, " ".join((each.new or "").split()), (each.new or "").split()))
        for line in _joined(each.before()):
            for tool, words in _commands(line[1]):
                was[tool].append(words)
        for at, text in _joined(each.after()):
            for tool, words in _commands(text):
                now[tool].append((each, at, text, words))
        if each.old is not None and each.new is not None:
            yield from _forgiving(each)
    for tool, before in was.items():
        after = now.get(tool, [])
        if not after:
            yield from _gone(tool, concerned)
            continue
        kept = [words for *_, words in after]
        fresh = [each for each in after if each[3] not in before]
        lost = [words for words in before if words not in kept]
        for whole, at, text, words in fresh:
            old = max(lost, key=lambda one: len(set(one) & set(words)), default=None)
            if old is not None and (less := _less(tool, old, words)):
                said = (
                    f"{shown(whole.path)} line {at} checks less than before ({shown(less[:60])}): {shown(text[:90])}."
                )
                yield Finding("step_disabled", whole.path, said, at)
        if len(lost) > len(fresh) and len({each[0].path for each in after}) and _whole_lost(lost, kept):
            path = next(
                (
                    one.path
                    for one in concerned
                    if any(words in lost for line in _joined(one.before()) for _, words in _commands(line[1]))
                ),
                "",
            )
            yield Finding(
                "step_disabled", path, f"{shown(path)} no longer runs {shown((tool + ' ' + ' '.join(lost[0]))[:90])}."
            )


def runs_checks(whole: Whole) -> bool:
    """Whether the file says how tests or checkers are run: by its name, or a script that runs some."""
    if testfiles.is_step(whole.path):
        return True
    return bool(SCRIPT.search(whole.path)) and any(RUNS_CHECKS.search(line[:LINE]) for line in whole.before())


def _joined(lines: Sequence[str]) -> Iterator[tuple[int, str]]:
    """Lines with those that go on after a backslash."""
    held, began = "", 0
    for at, raw in enumerate(lines, 1):
        text = raw.strip()[:LINE]
        began = began if held else at
        if text.endswith("\\") and len(held) < 4 * LINE:
            held += text[:-1] + " "
            continue
        yield began, (held + text)[: 4 * LINE]
        held = ""


def _commands(text: str) -> Iterator[tuple[str, list[str]]]:
    if text.startswith(("#", "//", "- name:", "name:", "- uses:", "uses:", "<!--")) or re.match(
        r"(?:RUN )?(?:.*&& )?(?:sudo )?(?:pip3?|npm|yarn|pnpm|uv|poetry|apt-get|brew|gem|cargo|go)"
        r" (?:ci\b|install|add|get)\b",
        re.sub(r"^(?:-\s*)?(?:run|script):\s*", "", text),
    ):
        return
    if not re.match(r"(?:-\s*)?(?:\"?[\w:.-]+\"?\s*[:=])?\s*|", text):
        return
    if options := re.match(r"addopts\s*=\s*(.*)", text):
        yield "addopts", options[1].strip("[]\"', ").replace('",', "").replace('"', "").split()
    for match in RUNS_CHECKS.finditer(text):
        if re.search(r"[\"']\s*:\s*[\"']?[\^~\d]", text[match.start() :]) or text[match.end() : match.end() + 2] in (
            "==",
            ">=",
            "~=",
            "<=",
        ):
            continue
        rest = re.split(r"&&|\|\||;|\||\"\s*,?\s*$|(?<!\\)\"", text[match.end() :], maxsplit=1)[0]
        yield " ".join(match.group().split()), re.split(r"[\s]+", rest.strip(" '\"),")) if rest.strip(" '\"),") else []


def _less(tool: str, old: Sequence[str], new: Sequence[str]) -> str:
    lost, gained = list((Counter(old) - Counter(new)).keys()), list((Counter(new) - Counter(old)).keys())
    stems = {re.split(r"[=:]", each)[0] for each in new}
    for each in lost:
        if (
            STRICT.match(each)
            and each not in (".", "./...")
            and (re.split(r"[=:]", each)[0] not in stems or _number(each) > _number_of(new, each))
        ):
            return f"without {each}"
        if each.endswith("=max") and not any(one.endswith("=max") for one in new):
            return f"without {each}"
    for each in gained:
        if (
            NARROWS.match(each)
            and not (each == "-x" and not tool.startswith(("gradle", "./gradle")))
            and not (each in ("-o", "-c", "-u", "-f", "-i", "-A") and not _short(tool, each))
        ):
            return each
    old_numbers, new_numbers = dict(_pairs(old)), dict(_pairs(new))
    for name, value in old_numbers.items():
        if name in new_numbers and re.search(r"fail|min|thresh|cov", name) and new_numbers[name] < value:
            return f"{name} {new_numbers[name]:g}"
        if name in new_numbers and re.search(r"max-warn|max-comp|line-len", name) and new_numbers[name] > value:
            return f"{name} {new_numbers[name]:g}"
    if "-m" in gained and any("not" in each for each in gained):
        return "-m not"
    paths = [each.strip("'\"") for each in old if _PATHLIKE.match(each.strip("'\""))]
    there = [each.strip("'\"") for each in new if _PATHLIKE.match(each.strip("'\""))]
    gone = [
        each
        for each in paths
        if each in lost and not covered(each.rstrip("/"), there) and not (each in (".", "./...") and not there)
    ]
    if gone and (len(there) < len(paths) or any(_within(one, each) for each in gone for one in there)):
        return f"without {gone[0]}"
    special = [
        each
        for each in there
        if each in gained and not paths and (re.search(r"\.\w{1,5}(?:::\S+)?$", each) or each.count("/") > 1)
    ]
    return special[0] if special else ""


def _short(tool: str, option: str) -> bool:
    return {"-u": r"jest|vitest", "-A": "clippy", "-f": r"mocha|mvn", "-i": "", "-o": "", "-c": ""}.get(
        option, "."
    ) != "" and bool(re.search({"-u": r"jest|vitest", "-A": "clippy", "-f": r"mocha"}.get(option, "$^"), tool))


def _within(new: str, old: str) -> bool:
    whole = old.rstrip("/.") in ("", "*", "**")
    return (
        whole
        or new.startswith(old.rstrip("/") + "/")
        or re.sub(r"\.\.\.$", "", new).startswith(re.sub(r"\.\.\.$", "", old))
    )


def _pairs(words: Sequence[str]) -> Iterator[tuple[str, float]]:
    for at, each in enumerate(words):
        name, _, value = each.partition("=")
        value = value or (words[at + 1] if at + 1 < len(words) else "")
        if each.startswith(("-", "/")) and re.fullmatch(r"\d+(?:\.\d+)?%?", value):
            yield name, float(value.rstrip("%"))


def _number(word: str) -> float:
    match = re.search(r"\d+(?:\.\d+)?", word)
    return float(match[0]) if match else 0.0


def _number_of(words: Sequence[str], like: str) -> float:
    stem = re.split(r"[=:]", like)[0]
    return next((_number(each) for each in words if re.split(r"[=:]", each)[0] == stem), 0.0)


def _whole_lost(lost: Sequence[Sequence[str]], kept: Sequence[Sequence[str]]) -> bool:
    return not all(set(each) <= {word for words in kept for word in words} for each in lost)


def _gone(tool: str, wholes: Sequence[Whole]) -> Iterator[Finding]:
    for each in wholes:
        for at, text in _joined(each.before()):
            if any(tool == name for name, _ in _commands(text)) and not _replaced(tool, wholes):
                said = f"{shown(each.path)} no longer runs {shown(tool)}, which stood on line {at}."
                yield Finding("step_disabled", each.path, said, at)
                return


def _replaced(tool: str, wholes: Sequence[Whole]) -> bool:
    """Whether another tool of the kind came in its place, or a script that runs it."""
    kind = _kind(tool)
    for each in wholes:
        there = {name for _, text in _joined(each.before()) for name, _ in _commands(text)}
        for _, text in _joined(each.after()):
            for name, _ in _commands(text):
                if name not in there and _kind(name) == kind:
                    return True
    return False


def _kind(tool: str) -> str:
    if re.search(r"mypy|pyright|tsc|pyre|ty\b", tool):
        return "types"
    return (
        "lint"
        if re.search(
            r"lint|ruff|flake8|clippy|fmt|format|black|prettier|isort|rubocop|phpstan|psalm|phpcs|checkstyle|vet|standard|credo|detekt|biome|staticcheck|shellcheck|check",
            tool,
        )
        else "tests"
    )


def _forgiving(whole: Whole) -> Iterator[Finding]:
    before = Counter(line.strip() for line in whole.before())
    after = Counter(line.strip() for line in whole.after())
    there = [line.strip()[:LINE] for line in whole.after()]
    shell = not whole.path.endswith((".toml", ".cfg", ".ini", ".json", ".xml"))
    for at, text in enumerate(there, 1):
        if after[text] <= before[text] or not text or text.startswith(("#", "//")):
            continue
        forgives = (
            shell and FORGIVES.match(text) and not (text.startswith(("exit 0", "return 0")) and _helps(there, at))
        )
        left_out = _left_out(whole.path, text) and _guards_a_check(whole.after(), at)
        if forgives or left_out or _fails_never(text, before):
            said = f"{shown(whole.path)} line {at} hides a failure or runs fewer checks: {shown(text[:90])}."
            yield Finding("step_disabled", whole.path, said, at)
    new = [text for text in there if STRICT_SHELL.match(text) and before[text] < after[text]]
    for each in before if shell and not new else ():
        if STRICT_SHELL.match(each[:LINE]) and after[each] < before[each]:
            said = f"{shown(whole.path)} no longer says {shown(each[:60])}, by which a failure ended it."
            yield Finding("step_disabled", whole.path, said)


def _fails_never(text: str, before: Counter[str]) -> bool:
    """Whether a line runs a check whose failure ends nothing, and did not stand so before."""
    mine = list(_commands(text))
    bare = re.sub(r"^(?:-\s*)?(?:run|script):\s*", "", text)
    if not mine or not (HIDES.search(bare) or HARMLESS.search(text)):
        return False
    return not any(HIDES.search(each[:LINE]) and list(_commands(each[:LINE])) == mine for each in before)


def _helps(lines: Sequence[str], at: int) -> bool:
    """Whether line `at` ends a script that was only asked for its help."""
    above = next((each for each in reversed(lines[max(0, at - 4) : at - 1]) if each), "")
    return bool(re.search(r"--help|usage|-h\b", above))


def _left_out(path: str, text: str) -> bool:
    if not path.endswith((".yml", ".yaml")):
        return False
    match = re.match(r"(?:-\s*)?(?:if|when|only|rules|condition):\s*(.+)$", text)
    return bool(match) and not re.search(
        r"always\(\)|cancelled\(\)|success\(\)|failure\(\)|!cancelled|on_success|always\b", match[1] if match else ""
    )


def _guards_a_check(lines: Sequence[str], at: int) -> bool:
    """Whether the condition on line `at` is that of a step or job with a check in it."""
    raw = lines[at - 1]
    indent = len(raw) - len(raw.lstrip(" -"))
    around: list[str] = []
    for line in lines[at : at + 40]:
        depth = len(line) - len(line.lstrip())
        if line.strip() and (depth < indent or (depth < indent + 1 and line.lstrip().startswith("- "))):
            break
        around.append(line)
    for line in reversed(lines[max(0, at - 9) : at - 1]):
        around.append(line)
        if line.lstrip().startswith("- "):
            break
    return any(RUNS_CHECKS.search(line[:LINE]) and any(True for _ in _commands(line.strip()[:LINE])) for line in around)
