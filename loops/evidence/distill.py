"""A failing job's raw log in, what an agent needs to see of it out. Pure, streaming, in bounded memory."""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import TypeVar

from loops.evidence.judging.choose import choose
from loops.evidence.judging.facts import diagnostics, failing_tests
from loops.evidence.judging.kinds import kind_of
from loops.evidence.judging.links import linked
from loops.evidence.judging.odd import odd
from loops.evidence.judging.score import Scored, score
from loops.evidence.model import Annotation, Distilled, Kind, Report, bare
from loops.evidence.passing.since import Since
from loops.evidence.passing.since import told as since_then
from loops.evidence.passing.twin import Twin
from loops.evidence.reading.commands import commands
from loops.evidence.reading.scan import Scan
from loops.evidence.reading.steps import Step, steps
from loops.evidence.telling.fingerprint import fingerprint
from loops.evidence.telling.names import unshown
from loops.evidence.telling.render import body, fitted, ranges, within
from loops.evidence.telling.reports import told as reported
from loops.evidence.telling.told import beside_twin, naming
from loops.evidence.text.clean import Lines, lines
from loops.evidence.text.normal import normal

T = TypeVar("T")
BUDGET = 16_000
TOLD = 5_000  # bytes at most of what is said before the log's own lines
COMMANDS = 400  # that were run, the last ones, wherever they stand
AT_ONCE = 200  # lines redacted together
WORKFLOW = ".github"  # where GitHub puts the runner's own annotations of a job
SHOWN = re.compile(r"^(\d+)\| ", re.M)
KEY_BODY = re.compile(r"[A-Za-z0-9+/=]{16,}|-----END |^\s*$|^\s*[\w-]+: ")
# what speaks of the job and not of the failure
ASIDE = ("runner", "npm", "pnpm", "yarn", "make")


def distill(
    chunks: Iterable[bytes],
    *,
    budget: int = BUDGET,
    failed_steps: Sequence[str] = (),
    annotations: Sequence[Annotation] = (),
    changed_files: Sequence[str] = (),
    redact: Callable[[str], str] | None = None,
    without: frozenset[str] = frozenset(),
    twin: Twin | None = None,
    since: Since | None = None,
    reports: Sequence[Report] = (),
) -> Distilled:
    """Distil one job's log.

    `chunks` are its raw bytes in order, of any size. `budget` is in bytes of UTF-8 and holds for the whole excerpt.
    `failed_steps` are step names or commands, `changed_files` paths of the change under test. `redact` is applied to
    every text that leaves. `without` leaves the recognisers of these tools out. `twin` is the same job as it passed:
    what is in it, too, counts less. It moves emphasis only, and nothing but the excerpt. `since` is told in it.
    `reports` are of the job's run; what they say of tests and places that this log speaks of wins over the log.
    """
    scan = Scan(chunks, twin)
    if scan.total_bytes == 0:
        return _nothing("empty", "The log is empty.", 0, budget)
    whole = lines(scan.edges.windows())
    ran, single = commands(whole.texts), odd(whole.texts)
    kept = _kept(scan, whole).with_more(whole.only(sorted({*ran[-COMMANDS:], *single})))
    if redact is not None:
        kept.texts[:] = _without_keys(_redacted(kept.texts, redact), kept.texts)
        annotations = [
            replace(a, path=redact(a.path), message=redact(a.message), title=redact(a.title)) for a in annotations
        ]
    if _binary(kept):
        return _nothing("empty", f"The log is binary, not text ({scan.total_bytes} bytes).", scan.total_lines, budget)
    found, failing = steps(kept, failed_steps)
    judge = partial(
        score,
        kept,
        found,
        failing,
        annotations=annotations,
        changed_files=changed_files,
        without=without,
        ran={whole.numbers[i] for i in ran},
        odd={whole.numbers[i] for i in single},
    )
    scored = judge()
    if failing is None and not annotations and _quiet(kept, scored, found):
        text = f"Nothing in this log of {scan.total_lines} lines says that anything failed."
        return _nothing("passed", text, scan.total_lines, budget)
    kind, reason = kind_of(kept, scored, failing, [a.message for a in annotations if a.path == WORKFLOW])
    tests = failing_tests(kept, scored)
    places = diagnostics(kept, scored, tuple(annotations))
    head = _head(kind, reason, failing, found, scan.total_lines)
    if sum(len(line.encode()) for line in head) > budget // 2:
        head = [*head[: int(failing is not None)], f"Kind: {kind}"]
    news = scan.news if scan.news is not None and scan.news.telling else None
    shown_lines, weighed = linked(kept, judge(news=news) if news is not None else scored, whole, redact)
    before = beside_twin(twin, news, whole, shown_lines, weighed) if twin is not None and news is not None else []
    if since is not None:
        before += since_then(since, naming(shown_lines, weighed))
    own = [each for report in reports if (each := report.of("\n".join(kept.texts))).tests or each.diagnostics]
    own = [each.clean(redact) for each in own] if redact is not None else own
    told = [*_told(annotations, kept), *(map(redact, before) if redact is not None else before)]
    told = within([*told, *reported(own)], min(TOLD, budget // 3))
    room = budget - sum(len(part.encode()) + 1 for part in (*head, *told))
    chosen = choose(shown_lines, weighed, room)
    shown = body(shown_lines, weighed, chosen)
    names = unshown(tests, "\n".join(shown), room - sum(len(part.encode(errors="replace")) + 1 for part in shown))
    excerpt = fitted([*head[:-1], *told, *names, head[-1], *shown], budget)
    return Distilled(
        excerpt=excerpt,
        kind=kind,
        reason=reason,
        fingerprint=fingerprint(kind, tests, places, _errors(kept, scored, failing, bool(tests or places))),
        command=failing.command if failing else None,
        step=failing.title if failing else None,
        exit_code=failing.exit_code if failing else None,
        failing_tests=_first([name for each in own for name, _ in each.tests], tests, bare),
        diagnostics=_first(
            [d for each in own for d in each.diagnostics], places, lambda place: (place.file, place.line)
        ),
        shown=ranges([int(number) for number in SHOWN.findall(excerpt)]),
        total_lines=scan.total_lines,
        tools=tuple(sorted({s.tool for s, p in zip(scored.shapes, scored.points, strict=True) if s and p >= 60})),
    )


def _kept(scan: Scan, whole: Lines) -> Lines:
    """The lines in the windows of `scan`; `whole` are those of its edges, which are all of most logs."""
    if len(whole.numbers) < scan.total_lines:
        return lines(scan.windows())
    kept: set[int] = set()
    for first, window in scan.windows():
        kept.update(range(first - 1, first - 1 + window.count(b"\n")))
    return whole.only(sorted(kept))


def _first(sure: Sequence[T], other: Sequence[T], key: Callable[[T], object]) -> tuple[T, ...]:
    """What a report is sure of, then what only the log tells."""
    known = {key(each) for each in sure}
    return tuple(dict.fromkeys([*sure, *(each for each in other if key(each) not in known)]))


def _head(kind: Kind, reason: str, failing: Step | None, found: Sequence[Step], total: int) -> list[str]:
    out = []
    if failing is not None:
        out.append(f"Failed step: {_named(failing)}")
    others = [step for step in found if step is not failing and step.exit_code not in (None, 0)]
    if others:
        out.append(f"Failed too: {'; '.join(_named(step) for step in others[:5])}")
    out.append(f"Kind: {kind} ({reason[:240]})")
    out.append(f"Lines of the full log ({total} in all), by number:")
    return out


def _named(step: Step) -> str:
    code = f", exit code {step.exit_code}" if step.exit_code is not None else ""
    return f"{step.title[:200] or '(before the first step)'}{code}"


def _told(annotations: Sequence[Annotation], kept: Lines) -> list[str]:
    """The annotations whose message the log itself does not hold."""
    whole = "\n".join(kept.texts)
    out = []
    for a in annotations[:20]:
        first = a.message.strip().split("\n")[0][:300]
        if first and first not in whole:
            where = f"{a.path}:{a.line}: " if a.line else f"{a.path}: " if a.path else ""
            out.append(f"Annotation ({a.level}): {where}{first}")
    return out


def _errors(kept: Lines, scored: Scored, failing: Step | None, named: bool) -> list[str]:
    """The lines by which two failures are told apart; `named` if tests or diagnostics do that too.

    The same ones in whatever order they came: what a line is worth there must not depend on its place.
    """
    said = [(s, p, t) for s, p, t in zip(scored.shapes, scored.own, kept.texts, strict=True) if p >= 58]
    errors = [(p, t) for s, p, t in said if s is not None and s.role == "error" and s.tool not in ASIDE and p >= 70]
    if not errors:
        errors = [(p, t) for s, p, t in said if s is None]
    if not errors and not named:
        errors = [(p, t) for s, p, t in said if s is not None and s.role == "error"]
    if not errors and not named and failing is not None:
        return [failing.title, str(failing.exit_code)]
    distinct = {normal(text): points for points, text in sorted(errors)}
    return sorted(distinct, key=lambda text: (-distinct[text], text))[:12]


def _quiet(kept: Lines, scored: Scored, found: Sequence[Step]) -> bool:
    """Whether a log without a mark of failure is one of success: a whole job, or words that are calm throughout."""
    if kept.texts[0].startswith("Current runner version") and any(step.phase == "post" for step in found):
        return True
    loud = (p for p, s in zip(scored.own, scored.shapes, strict=True) if s is None or s.role != "title")
    return max(loud, default=0.0) < 56


def _redacted(texts: list[str], redact: Callable[[str], str]) -> list[str]:
    """Many lines at once, which is much faster; one by one where that took line ends out."""
    out: list[str] = []
    for at in range(0, len(texts), AT_ONCE):
        some = texts[at : at + AT_ONCE]
        clean = redact("\n".join(some)).split("\n")
        out += clean if len(clean) == len(some) else [redact(text) for text in some]
    return out


def _without_keys(redacted: list[str], texts: list[str]) -> list[str]:
    """Mask the lines of a private key, which no redaction of single lines can know for one."""
    out: list[str] = []
    inside = False
    for clean, text in zip(redacted, texts, strict=True):
        begins = "-----BEGIN " in text and "PRIVATE KEY" in text
        inside = ((inside or begins) and KEY_BODY.search(text) is not None) or begins
        out.append("[redacted]" if inside else clean)
        inside = inside and "-----END " not in text
    return out


def _binary(kept: Lines) -> bool:
    sample = "".join(kept.texts)[:20_000]
    return len(sample) > 0 and sample.count("\ufffd") > len(sample) // 5


def _nothing(kind: Kind, text: str, total: int, budget: int) -> Distilled:
    return Distilled(fitted([text], budget), kind, text, fingerprint(kind, (), (), ()), total_lines=total)
