"""One name for one failure, whichever job of a matrix and whichever run it shows in."""

import hashlib
from collections.abc import Iterable

from loops.evidence.model import Diagnostic, Kind
from loops.evidence.text.normal import normal


def fingerprint(kind: Kind, tests: Iterable[str], diagnostics: Iterable[Diagnostic], errors: Iterable[str]) -> str:
    """16 hex digits from what failed and what was said of it, without its order, places and counts.

    `errors` are the lines that said what went wrong.
    """
    parts = {f"test {normal(test)}" for test in tests}
    parts |= {f"at {normal(d.file)} {normal(d.message)}" for d in diagnostics}
    parts |= {f"said {text}" for error in errors if (text := normal(error))}
    digest = hashlib.sha256("\n".join([kind, *sorted(parts)]).encode(errors="replace"))
    return digest.hexdigest()[:16]
