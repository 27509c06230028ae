"""How much one query may ask for: https://docs.github.com/en/graphql/overview/rate-limits-and-query-limits-for-the-graphql-api

Each connection of which nodes are wanted needs `first` or `last`, from 1 to 100, and all nodes together are at most
500,000.
"""

from collections.abc import Mapping
from typing import Any

from graphql import (
    DocumentNode,
    FieldNode,
    GraphQLError,
    GraphQLSchema,
    TypeInfo,
    TypeInfoVisitor,
    VariableDefinitionNode,
    VariableNode,
    Visitor,
    get_named_type,
    value_from_ast_untyped,
    visit,
)

from github.emulator.rest.graphql.errors import RefusedQuery

MOST_NODES = 500_000
MOST_IN_PAGE = 100


def too_much(schema: GraphQLSchema, asked: DocumentNode, variables: Mapping[str, Any]) -> list[GraphQLError]:
    """What GitHub would refuse of the query before it runs."""
    types = TypeInfo(schema)
    counter = _Counter(types, variables)
    visit(asked, TypeInfoVisitor(types, counter))
    if counter.nodes > MOST_NODES:
        words = (
            f"This query requests up to {counter.nodes:,} possible nodes which exceeds the maximum limit of 500,000."
        )
        counter.refused.append(RefusedQuery("MAX_NODE_LIMIT_EXCEEDED", words))
    return counter.refused


class _Counter(Visitor):
    def __init__(self, types: TypeInfo, variables: Mapping[str, Any]) -> None:
        super().__init__()
        self._types, self._variables = types, dict(variables)
        self._times = [1]
        self.nodes = 0
        self.refused: list[GraphQLError] = []

    def enter_variable_definition(self, node: VariableDefinitionNode, *_: Any) -> None:
        if node.default_value is not None:
            self._variables.setdefault(node.variable.name.value, value_from_ast_untyped(node.default_value))

    def enter_field(self, node: FieldNode, *_: Any) -> None:
        times = self._times[-1]
        if self._lists_nodes(node):
            size = self._size(node)
            times *= size
            self.nodes += times
        self._times.append(times)

    def leave_field(self, *_: Any) -> None:
        self._times.pop()

    def _lists_nodes(self, node: FieldNode) -> bool:
        kind = self._types.get_type()
        wanted = {each.name.value for each in _fields(node)}
        return (
            kind is not None and get_named_type(kind).name.endswith("Connection") and bool(wanted & {"nodes", "edges"})
        )

    def _size(self, node: FieldNode) -> int:
        name, given = node.name.value, {each.name.value: each.value for each in node.arguments or ()}
        for bound in ("first", "last"):
            value = given.get(bound)
            if isinstance(value, VariableNode):
                size = self._variables.get(value.name.value)
            else:
                size = None if value is None else value_from_ast_untyped(value)
            if isinstance(size, int):
                if not 1 <= size <= MOST_IN_PAGE:
                    asked = f"Requesting {size} records on the `{name}` connection"
                    words = f"{asked} exceeds the `{bound}` limit of 100 records."
                    self.refused.append(RefusedQuery("EXCESSIVE_PAGINATION", words))
                return size
        words = f"You must provide a `first` or `last` value to properly paginate the `{name}` connection."
        self.refused.append(RefusedQuery("MISSING_PAGINATION_BOUNDARIES", words))
        return 1


def _fields(node: FieldNode) -> list[FieldNode]:
    selected = node.selection_set.selections if node.selection_set else ()
    return [each for each in selected if isinstance(each, FieldNode)]
