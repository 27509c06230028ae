"""Errors as programs read them: application/problem+json (RFC 9457)."""

from collections.abc import Mapping
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final

from starlette.responses import JSONResponse

MEDIA: Final = "application/problem+json"


@dataclass(frozen=True)
class ProblemDetails:
    """What an error says: `detail` in a sentence with the way out, `field` names the input that is wrong."""

    type: str
    title: str
    status: int
    detail: str
    field: str | None = None


class Problem(Exception):
    """A request that is answered with an error."""

    def __init__(
        self, status: int, detail: str, *, field: str | None = None, headers: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(detail)
        self.details = ProblemDetails("about:blank", HTTPStatus(status).phrase, status, detail, field)
        self.headers = dict(headers or {})


def answer(problem: Problem) -> JSONResponse:
    """The problem as it is sent."""
    told = {name: value for name, value in vars(problem.details).items() if value is not None}
    return JSONResponse(told, problem.details.status, headers=problem.headers, media_type=MEDIA)
