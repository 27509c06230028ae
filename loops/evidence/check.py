"""Evidence that is no log: a check run's output, a commit status. It goes through the same door."""

from collections.abc import Callable, Sequence
from dataclasses import replace

from loops.evidence.distill import BUDGET, distill
from loops.evidence.model import Annotation, Distilled
from loops.evidence.telling.fingerprint import fingerprint


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
    found = distill(
        [said.encode(errors="replace")],
        budget=budget,
        annotations=annotations,
        changed_files=changed_files,
        redact=redact,
    )
    if found.kind not in ("passed", "empty") or not said:
        return found
    # it stands at a red check, so it is about a failure whatever its words are
    told = (redact(said) if redact else said).encode("utf-8", "replace")[:budget].decode("utf-8", "ignore")
    lines = told.splitlines()
    return replace(
        found,
        excerpt=told,
        kind="unknown",
        reason="the check says no more",
        fingerprint=fingerprint("unknown", (), (), lines),
        shown=((1, len(lines)),),
        total_lines=len(lines),
    )
