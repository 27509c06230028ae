"""How OpenCode says that it failed: an `error` event with a name, often with the provider's status and headers."""

from typing import Final

from loops.runtimes.failures import FailureKind, Sign

FAILURES: Final = (
    Sign(FailureKind.CREDENTIALS, code="ProviderAuthError"),
    Sign(FailureKind.MODEL, code="ProviderModelNotFoundError"),
    Sign(FailureKind.BUG, code="ConfigInvalidError|ConfigJsonError"),
    Sign(FailureKind.POLICY, code="ContentFilterError"),
    Sign(FailureKind.CONTEXT, code="MessageOutputLengthError"),
)
