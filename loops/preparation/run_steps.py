"""The steps of a job as GitHub lists them of a run, laid beside those of its file."""

from collections.abc import Sequence
from dataclasses import dataclass

from github.workflows.expressions import BadExpression, Scope
from github.workflows.workflow import StepSpec


@dataclass(frozen=True)
class RunStep:
    """A step of a run: `name` as shown, `conclusion` success, failure, cancelled or skipped."""

    name: str
    conclusion: str


def title(spec: StepSpec) -> str:
    """The name of a step: its own, or what it runs, in one line."""
    return spec.name or f"Run {(spec.run or spec.uses or '').strip().partition(chr(10))[0]}"


def places(specs: Sequence[StepSpec], run: Sequence[RunStep], scope: Scope) -> dict[int, RunStep]:
    """Which of the run's steps each of the file's is: by their names, in their order. GitHub lists steps of its own
    before, between and after them."""
    found: dict[int, RunStep] = {}
    at = 0
    for index, spec in enumerate(specs):
        names = {title(spec), _evaluated(spec, scope)}
        match = next((n for n in range(at, len(run)) if run[n].name in names), None)
        if match is not None:
            found[index] = run[match]
            at = match + 1
    return found


def as_run(specs: Sequence[StepSpec], run: Sequence[RunStep], scope: Scope) -> dict[int, bool]:
    """Which steps of the file were run, and which skipped; those after the one that failed are not told."""
    told: dict[int, bool] = {}
    for index, step in places(specs, run, scope).items():
        told[index] = step.conclusion != "skipped"
        if step.conclusion in ("failure", "cancelled", "timed_out"):
            break
    return told


def failed_step(specs: Sequence[StepSpec], run: Sequence[RunStep], scope: Scope) -> int | None:
    """The step of the file that failed first."""
    found = places(specs, run, scope)
    return next((index for index in sorted(found) if found[index].conclusion in ("failure", "timed_out")), None)


def _evaluated(spec: StepSpec, scope: Scope) -> str:
    try:
        return scope.substitute(title(spec))
    except BadExpression:
        return title(spec)
