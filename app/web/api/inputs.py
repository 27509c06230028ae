"""What a request gives: its body and its query, by what the operation declares, and nothing else."""

from dataclasses import dataclass
from typing import Annotated, Any, Final

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError, with_config
from starlette.requests import Request

from app.bodies import BodyTooLarge, body_of
from loops.operations import Invalid

BODY_LIMIT: Final = 256 * 1024
LONGEST_TEXT: Final = 1000
"""Of a text in a query."""
LARGEST: Final = 2**63 - 1

Number = Annotated[int, Field(ge=1, le=LARGEST)]


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True)
class StartBody:
    """A session to start. `repository` is GitHub's numeric id, or owner/name; `person` the login whose box and account
    are used, which only the operator's token may choose; `runtime` and `model` are as after a mention."""

    repository: Number | str
    instruction: str
    base: str | None = None
    max_steps: int | None = None
    person: str | None = None
    runtime: str | None = None
    model: str | None = None
    installation: Number | None = None


@with_config(ConfigDict(extra="forbid", strict=True))
@dataclass(frozen=True)
class RetryBody:
    """Words that are added to the task."""

    instruction: str = ""


@dataclass(frozen=True)
class Parameter:
    """One of a query. `choices` are all that a text may be; a number lies from `low` to `high`."""

    name: str
    about: str
    kind: type = str
    choices: tuple[str, ...] = ()
    low: int = 0
    high: int = LARGEST
    default: Any = None


def query_of(request: Request, known: tuple[Parameter, ...]) -> dict[str, Any]:
    """The values that the query gives, and defaults. Raises Invalid for what is wrong, or not known."""
    names = {each.name: each for each in known}
    if strange := sorted(request.query_params.keys() - names.keys()):
        there = ", ".join(names) or "none"
        raise Invalid(strange[0][:100], f"there is no parameter {strange[0][:100]!r} here; there are: {there}")
    found: dict[str, Any] = {each.name: each.default for each in known if each.default is not None}
    for name, text in request.query_params.multi_items():
        found[name] = _value(names[name], text)
    return found


async def body_as(request: Request, kind: type, *, empty: Any = None) -> Any:
    """The JSON body as a `kind`; `empty` for none, where that may be. Raises Invalid."""
    try:
        text = await body_of(request, BODY_LIMIT)
    except BodyTooLarge as error:
        raise Invalid("", str(error)) from None
    if not text and empty is not None:
        return empty
    try:
        made: Any = TypeAdapter(kind).validate_json(text)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0])[:100] if first["loc"] else ""
        raise Invalid(field, f"{field or 'the body'}: {first['msg']}") from None
    for name, value in vars(made).items():
        if isinstance(value, str):
            check_text(name, value)
    return made


def _value(parameter: Parameter, text: str) -> Any:
    name = parameter.name
    if parameter.kind is int:
        if not (text.isascii() and text.isdigit() and len(text) < 20 and parameter.low <= int(text) <= parameter.high):
            raise Invalid(name, f"{name} has to be a whole number from {parameter.low} to {parameter.high}")
        return int(text)
    if parameter.choices and text not in parameter.choices:
        raise Invalid(name, f"{name} has to be one of {', '.join(parameter.choices)}")
    if not text or len(text) > LONGEST_TEXT:
        raise Invalid(name, f"{name} has to be a text of 1 to {LONGEST_TEXT} characters")
    check_text(name, text)
    return text


def check_text(name: str, text: str) -> None:
    """Raises Invalid for what no database keeps as a text: NUL, and halves of characters."""
    if "\0" in text or any("\ud800" <= each <= "\udfff" for each in text):
        raise Invalid(name, f"{name} holds NUL, or half of a character")
