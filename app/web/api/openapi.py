"""The API described in OpenAPI 3.1, made of the operations themselves."""

import re
from functools import cache
from http import HTTPStatus
from importlib import metadata
from typing import Any, Final

from pydantic import TypeAdapter
from pydantic.json_schema import JsonSchemaMode

from app.web.api.inputs import Parameter
from app.web.api.operations import OPERATIONS, Operation
from app.web.api.problems import MEDIA, ProblemDetails

_REF: Final = "#/components/schemas/{model}"
_PROBLEMS: Final = {
    400: "Something in the request is wrong; `field` names it.",
    401: "The bearer token is missing, wrong, revoked or over.",
    403: "The token was made without this scope, or for somebody else.",
    404: "It is not there, or not the caller's to see.",
    409: "It cannot be done as it stands.",
    422: "The Idempotency-Key was used for another call.",
    429: "Too many calls; Retry-After says when to come back.",
    503: "GitHub or the database cannot be asked now; Retry-After says when to come back.",
}
_OF_CALLS: Final = (409, 422)


@cache
def document() -> dict[str, Any]:
    """The description."""
    kinds = {each for operation in OPERATIONS for each in (operation.answer, ProblemDetails) if each}
    wanted: list[tuple[Any, JsonSchemaMode, TypeAdapter[Any]]] = [
        *((each, "serialization", TypeAdapter(each)) for each in sorted(kinds, key=lambda kind: kind.__name__)),
        *((each.body, "validation", TypeAdapter(each.body)) for each in OPERATIONS if each.body),
    ]
    found, definitions = TypeAdapter.json_schemas(wanted, ref_template=_REF)
    schemas = {kind: schema for (kind, _), schema in found.items()}
    paths: dict[str, Any] = {}
    for operation in OPERATIONS:
        paths.setdefault(operation.path, {})[operation.method.lower()] = _described(operation, schemas)
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Greenloop",
            "version": metadata.version("greenloop"),
            "description": "Coding agents that open pull requests and repair them.",
        },
        "servers": [{"url": "/"}],
        "security": [{"bearer": []}],
        "paths": paths,
        "components": {
            "schemas": definitions["$defs"],
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _described(operation: Operation, schemas: dict[Any, Any]) -> dict[str, Any]:
    content: dict[str, Any] = {media: {"schema": {"type": "string"}} for media in operation.media}
    if operation.answer is not None:
        content["application/json"] = {"schema": schemas[operation.answer]}
    told: dict[str, Any] = {
        "operationId": operation.name,
        "summary": operation.about,
        "parameters": [
            *map(_in_path, re.findall(r"\{(\w+)\}", operation.path)),
            *map(_parameter, operation.query),
            *([_KEY] if operation.once else []),
        ],
        "responses": {
            str(operation.status): {"description": HTTPStatus(operation.status).phrase, "content": content},
            **{
                str(status): {"description": about, "content": {MEDIA: {"schema": schemas[ProblemDetails]}}}
                for status, about in _PROBLEMS.items()
                if operation.once or status not in _OF_CALLS
            },
        },
    }
    if operation.scope:
        told["description"] = f"A personal token needs the scope `{operation.scope}`."
    if operation.body is not None:
        needed = operation.status == 201
        told["requestBody"] = {
            "required": needed,
            "content": {"application/json": {"schema": schemas[operation.body]}},
        }
    return told


_KEY: Final = {
    "name": "Idempotency-Key",
    "in": "header",
    "description": "The same call with the same key, within a day, does nothing more and is answered as before.",
    "schema": {"type": "string", "minLength": 1, "maxLength": 200},
}


def _in_path(name: str) -> dict[str, Any]:
    return {"name": name, "in": "path", "required": True, "schema": {"type": "string"}}


def _parameter(parameter: Parameter) -> dict[str, Any]:
    schema: dict[str, Any] = {"type": "string"}
    if parameter.kind is int:
        schema = {"type": "integer", "minimum": parameter.low, "maximum": parameter.high}
    if parameter.choices:
        schema["enum"] = list(parameter.choices)
    if parameter.default is not None:
        schema["default"] = parameter.default
    return {"name": parameter.name, "in": "query", "description": parameter.about, "schema": schema}
