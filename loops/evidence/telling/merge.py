"""The failing jobs of a matrix are one piece of evidence where they failed alike."""

from collections.abc import Sequence

from loops.evidence.model import Distilled, Evidence


def merge(evidences: Sequence[tuple[str, Distilled]]) -> list[Evidence]:
    """Group `(job name, distilled)` by fingerprint, in order of first sight; the fullest excerpt speaks for all."""
    groups: dict[str, list[tuple[str, Distilled]]] = {}
    for name, distilled in evidences:
        groups.setdefault(distilled.fingerprint, []).append((name, distilled))
    return [
        Evidence(
            tuple(dict.fromkeys(name for name, _ in group)), max((d for _, d in group), key=lambda d: len(d.excerpt))
        )
        for group in groups.values()
    ]
