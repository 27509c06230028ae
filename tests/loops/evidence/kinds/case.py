"""One failing job as a case: what it printed, how it ended, and what kind of failure that is."""

from dataclasses import dataclass

from loops.evidence import Annotation, Distilled, distill
from tests.loops.evidence.logs import job, step


@dataclass(frozen=True)
class Case:
    """`output` is what `command` printed. `code` is its exit code; where the runner ended the step itself, `marks` are
    the lines that it wrote. `notes` are the job's annotations without a place."""

    name: str
    kind: str
    output: str
    command: str = "./ci.sh"
    code: int | None = 1
    marks: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()

    def __str__(self) -> str:
        return self.name

    def told(self) -> Distilled:
        """What is made of the job's whole log, with an installation before and a report after."""
        lines = self.output.strip("\n").split("\n") + [f"##[error]{mark}" for mark in self.marks]
        before = step("npm ci", ["npm warn deprecated x@1: no longer supported", "added 300 packages in 4s"])
        after = step("./upload-report", ["No report, nothing to do"])
        log = job(before, step(self.command, lines, None if self.marks else self.code), after)
        return distill([log], annotations=[Annotation(".github", note, 1) for note in self.notes])


def cases(kind: str, *told: tuple[str, str, int, str]) -> tuple[Case, ...]:
    """Each of `told` is a name, the command, its exit code and what it printed."""
    return tuple(Case(name, kind, output, command=command, code=code) for name, command, code, output in told)


def marks(kind: str, *told: tuple[str, str]) -> tuple[Case, ...]:
    """Each of `told` is a name and what the runner wrote as it ended the step."""
    return tuple(Case(name, kind, "", command="act", marks=(mark,)) for name, mark in told)
