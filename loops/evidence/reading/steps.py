"""Where the steps of a job begin, which of them failed, with what command and exit code."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from loops.evidence.text.clean import Lines

RUN = re.compile(r"##\[group\]Run (.*)")
EXIT = re.compile(r"##\[error\].*?\bexit code:? (-?\d+)")
FATAL = re.compile(
    r"##\[error\](?:The (?:operation|job|action|run|runner|self-hosted|hosted)\b|Process completed|"
    r"Unable to (?:resolve|process)|Can't (?:find|use)|Input required|No space left|buildx )"
)
# actions and phases whose output tells nothing of a failure that is not theirs
SETUP = re.compile(r"(?:actions/(?:checkout|cache|setup-|upload-|download-)|docker/setup-|[\w.-]+/setup-)", re.I)


# what workflows run with `always()`, and what fails only because something before it did
AFTERWARDS = re.compile(
    r"\S*(?:upload|report|summary|notif|slack|comment|codecov|coveralls|artifact|clean-?up|tear-?down|annotat)\S*|"
    r"docker[ -]compose .*\b(?:down|logs)\b|kubectl (?:logs|describe|delete)\b|gh (?:issue|pr) comment\b",
    re.I,
)


@dataclass
class Step:
    """`first` and `last` are indexes into the kept lines, `head` how many of them are the step's own heading. `name` is
    the step's in the workflow, which only gh writes."""

    title: str
    first: int
    last: int
    head: int = 0
    script: list[str] = field(default_factory=list)
    failed_at: int | None = None
    exit_code: int | None = None
    phase: str = "run"  # or setup, post
    name: str = ""

    @property
    def command(self) -> str | None:
        return "\n".join(self.script) or (self.title or None)


def steps(lines: Lines, named: Sequence[str] = ()) -> tuple[list[Step], Step | None]:
    """Cut the log into steps and point at the one that failed the job.

    `named` are the steps that GitHub says failed, in order; those of `continue-on-error` are not among them.
    """
    found = [Step("", 0, -1, phase="setup")]
    nested = 0
    for i, text in enumerate(lines.texts):
        here = found[-1]
        if text.startswith("##[group]"):
            run = RUN.match(text)
            if run and here.phase != "post":
                here.last = i - 1
                found.append(_step(lines, run[1], i))
            else:
                nested += 1
        elif text.startswith("Post job cleanup."):
            here.last = i - 1
            found.append(Step("Post job cleanup", i, i, phase="post"))
        elif text.startswith("##[error]"):
            code = EXIT.match(text)
            if code:
                here.exit_code, here.failed_at = int(code[1]), i
            elif here.failed_at is None or FATAL.match(text):
                here.failed_at = i
        elif lines.steps[i] and lines.steps[i] != lines.steps[i - 1] and not text.startswith("##["):
            here.last = i - 1
            found.append(Step(lines.steps[i], i, i, name=lines.steps[i]))
    found[-1].last = len(lines.texts) - 1
    if len(found) == 1:
        found[0].phase = "run"
    found = [step for step in found if step.last >= step.first]
    return found, _failing(found, named)


def _step(lines: Lines, title: str, i: int) -> Step:
    step = Step(title, i, i, phase="setup" if SETUP.match(title) else "run", name=lines.steps[i])
    for j in range(i + 1, min(i + 60, len(lines.texts))):
        text = lines.texts[j]
        if text.startswith("##[endgroup]"):
            step.head = j - i + 1
            break
        if lines.gap_before(j):
            step.head = j - i
            break
        if re.match(r"shell: |env:$|with:$|  \w[\w-]*: ", text) or step.head:
            step.head = step.head or j - i
            continue
        step.script.append(text)
    return step


def _failing(found: list[Step], named: Sequence[str]) -> Step | None:
    """A step may fail and not be the failure (`continue-on-error`), and steps may still run after the failure
    (`always()`), and fail for want of what it did not make."""
    wanted = [name.casefold().removeprefix("run ").strip() for name in named]
    failed = [step for step in found if step.failed_at is not None]
    for pool in (failed, found):
        for step in pool:
            words = [step.title.casefold(), step.name.casefold(), *(line.casefold() for line in step.script)]
            if any(want and any(want == w or (len(want) > 6 and want in w) for w in words) for want in wanted):
                return step
    # an action may mark errors and not fail; a command that the runner gives an exit code of has failed
    failed = [step for step in failed if step.exit_code not in (None, 0) and step.phase != "post"] or failed
    if not failed:
        return None
    if named:
        # names that the log does not hold still tell how many failed: the first of them is the cause of the others
        return failed[-min(len(named), len(failed))]
    while len(failed) > 1 and AFTERWARDS.match(failed[-1].title):
        failed.pop()
    return failed[-1]
