"""Answers that say no, in GitHub's shape."""

from collections.abc import Mapping
from typing import Any

DOCUMENTATION = "https://docs.github.com/rest"


class Refusal(Exception):
    """Ends a call with this status. `extra` goes into the body beside the message."""

    def __init__(
        self,
        status: int,
        message: str,
        extra: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(f"{status} {message}")
        self.status = status
        self.message = message
        self.extra = dict(extra or {})
        self.headers = dict(headers or {})

    def body(self) -> dict[str, Any]:
        body = {"message": self.message} | self.extra
        body.setdefault("documentation_url", DOCUMENTATION)
        body.setdefault("status", str(self.status))
        return body


def not_found() -> Refusal:
    return Refusal(404, "Not Found")


def no_permission(accepted: str = "") -> Refusal:
    headers = {"x-accepted-github-permissions": accepted} if accepted else {}
    return Refusal(403, "Resource not accessible by integration", headers=headers)


def bad_credentials() -> Refusal:
    return Refusal(401, "Bad credentials")


def invalid(resource: str, field: str, code: str = "invalid", message: str | None = None, value: Any = None) -> Refusal:
    """422 `Validation Failed` with one error; codes as GitHub lists them."""
    error: dict[str, Any] = {"resource": resource, "field": field, "code": code}
    if message is not None:
        error["message"] = message
    if value is not None:
        error["value"] = value
    return Refusal(422, "Validation Failed", {"errors": [error]})


def custom(resource: str, message: str) -> Refusal:
    """422 `Validation Failed` whose one error is a sentence."""
    error = {"resource": resource, "code": "custom", "message": message}
    return Refusal(422, "Validation Failed", {"errors": [error]})


def unprocessable(message: str) -> Refusal:
    """422 with a sentence and nothing else, as the git endpoints give it."""
    return Refusal(422, message)
