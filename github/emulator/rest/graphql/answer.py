"""GraphQL: what REST cannot do, and what newcomers' clients ask by it."""

from typing import Any

from graphql import (
    GraphQLError,
    GraphQLResolveInfo,
    OverlappingFieldsCanBeMergedRule,
    execute_sync,
    parse,
    specified_rules,
    validate,
)

from github.emulator.api.access import sees
from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.clock import iso
from github.emulator.rest.graphql import errors
from github.emulator.rest.graphql.errors import RefusedQuery
from github.emulator.rest.graphql.limits import too_much
from github.emulator.rest.graphql.mutations import Mutations
from github.emulator.rest.graphql.schema import SCHEMA
from github.emulator.store.table import row_id_of

Json = dict[str, Any]
Info = GraphQLResolveInfo[Any]
# GitHub takes fields of one name and several types in fragments of a union; `gh issue view` relies on it
RULES = [rule for rule in specified_rules if rule is not OverlappingFieldsCanBeMergedRule]


class Root(Mutations):
    """Resolves the fields of `Query` and `Mutation` for one call."""

    def repository(self, _info: Info, owner: str, name: str) -> Json:
        found = self._call.store.repository(f"{owner}/{name}")
        if found is None or not sees(self._call, found):
            message = f"Could not resolve to a Repository with the name '{owner}/{name}'."
            raise RefusedQuery("NOT_FOUND", message)
        return self._nodes.repository(found)

    def node(self, _info: Info, id: str) -> Json:
        if row_id_of(id, "R") is not None:
            return self._nodes.repository(self._repository(id))
        return self._nodes.conversation(self._conversation(id))

    def viewer(self, _info: Info) -> Json:
        """An installation is its bot, with the suffix."""
        return {**(self._nodes.actor(self._call.user) or {}), "login": self._call.user.login}

    def rateLimit(self, _info: Info) -> Json:
        budget = self._call.hub.limits.budget(self._call.actor, "graphql")
        shown = {"limit": budget.limit, "remaining": budget.remaining, "used": budget.used}
        return shown | {"cost": 1, "resetAt": iso(budget.reset)}


def answer(call: Call) -> Answer:
    """Always 200, errors in the body, as GitHub does it."""
    try:
        asked = parse(str(call.get("query") or ""))
    except GraphQLError as error:
        return Answer(200, {"errors": [errors.shown(error)]})
    if flaws := validate(SCHEMA, asked, RULES):
        return Answer(200, {"errors": [errors.shown(flaw) for flaw in flaws]})
    variables, name = call.get("variables") or {}, call.get("operationName")
    if refused := too_much(SCHEMA, asked, variables):
        return Answer(200, {"errors": [errors.shown(each) for each in refused]})
    result = execute_sync(SCHEMA, asked, Root(call), variable_values=variables, operation_name=name)
    shown = [errors.shown(error) for error in result.errors or []]
    if shown and all("path" not in error for error in shown):  # nothing was asked of any field
        return Answer(200, {"errors": shown})
    return Answer(200, {"data": result.data} | ({"errors": shown} if shown else {}))


ROUTES = [Route("POST", "/graphql", answer, "any")]
