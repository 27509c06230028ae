"""Errors of GraphQL in GitHub's words; those of the library that answers here are others."""

import re
from typing import Any

from graphql import GraphQLError

Json = dict[str, Any]
_FIELD = re.compile(r"Cannot query field '(\w+)' on type '(\w+)'")
_VARIABLE = re.compile(
    r"Variable '\$(\w+)' .*(?:of required|non-null) type '(.+?)' (?:to be provided|was not provided)"
)


class RefusedQuery(GraphQLError):
    """An error of GitHub's own kind: `type` beside the message."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message, extensions={"type": kind})


def shown(error: GraphQLError) -> Json:
    """One error of an answer's list."""
    found: Json = {"message": error.message, "locations": error.formatted.get("locations", [])}
    if error.path:
        found["path"] = error.path
    if kind := (error.extensions or {}).get("type"):
        found["type"] = kind
    return found | _in_githubs_words(error.message)


def _in_githubs_words(message: str) -> Json:
    """A query that is wrong in itself; the words are those of dlvhdr/gh-dash#376."""
    if field := _FIELD.match(message):
        name, kind = field.groups()
        extensions = {"code": "undefinedField", "typeName": kind, "fieldName": name}
        return {"message": f"Field '{name}' doesn't exist on type '{kind}'", "extensions": extensions}
    if variable := _VARIABLE.match(message):
        problem = {"path": [], "explanation": "Expected value to not be null"}
        words = f"Variable ${variable[1]} of type {variable[2]} was provided invalid value"
        return {"message": words, "extensions": {"value": None, "problems": [problem]}}
    return {}
