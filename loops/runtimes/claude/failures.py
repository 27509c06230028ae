"""How Claude Code says that it failed: a `result` with the provider's status, after an answer that names the fault."""

from typing import Final

from loops.runtimes.failures import FailureKind, Sign

FAILURES: Final = (
    Sign(FailureKind.NETWORK, code="connection_failed"),
    Sign(FailureKind.QUOTA, code="billing_error"),
    Sign(FailureKind.MODEL, code="model_not_found"),
    # it calls 403 a failed authentication too
    Sign(FailureKind.ACCESS, code="authentication_failed", status=(403,)),
)
