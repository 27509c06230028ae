"""How Gemini CLI says that it failed: a `result` with the provider's answer, and the HTTP status as exit code & 255."""

from typing import Final

from loops.runtimes.failures import FailureKind, Sign

FAILURES: Final = (
    # Google calls what is over in seconds a quota as well, and says when to come again.
    Sign(FailureKind.RATE_LIMIT, text=r"retry (?:in|after) \d|per ?minute|please wait and try again later"),
    Sign(FailureKind.CREDENTIALS, exit=(41, 401 & 255)),
    Sign(FailureKind.QUOTA, exit=(402 & 255,)),
    Sign(FailureKind.ACCESS, exit=(403 & 255,)),
    Sign(FailureKind.OVERLOADED, exit=(503 & 255,)),
    Sign(FailureKind.BUG, exit=(55,)),
)
