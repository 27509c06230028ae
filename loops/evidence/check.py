"""Evidence that is no log: a check run's output, a commit status. It goes through the same door."""

from collections.abc import Callable, Sequence

from loops.evidence.distill import BUDGET, distill
from loops.evidence.model import Annotation, Distilled


def distill_check(
    title: str | None,
    summary: str | None = None,
    text: str | None = None,
    annotations: Sequence[Annotation] = (),
    *,
    budget: int = BUDGET,
    changed_files: Sequence[str] = (),
    redact: Callable[[str], str] | None = None,
) -> Distilled:
    """Distil what a check run's `output` (or a commit status' description, as `title`) says."""
    said = "\n".join(part.strip("\n") for part in (title, summary, text) if part and part.strip())
    return distill(
        [said.encode(errors="replace")],
        budget=budget,
        annotations=annotations,
        changed_files=changed_files,
        redact=redact,
    )
