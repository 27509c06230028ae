"""How Gemini CLI says that it failed: a `result` with the provider's answer, and the HTTP status as exit code & 255."""

from typing import Final

from loops.runtimes.failures import FailureKind, Sign

FAILURES: Final = (
    Sign(FailureKind.QUOTA, text="per ?day"),
    # Google calls what is over in seconds a quota as well, and says when to come again.
    Sign(FailureKind.RATE_LIMIT, text=r"retry (?:in|after) \d|per ?minute|please wait and try again later"),
    Sign(FailureKind.CREDENTIALS, exit=(41,)),
    Sign(FailureKind.BUG, exit=(55,)),
)
STATUSES: Final = {status & 255: status for status in (401, 402, 403, 413, 429, 500, 502, 503, 504)}
"""The HTTP status that an exit code tells of; 404 ends with 1."""
