"""What the local GitHub answers by GraphQL, and what the service asks, are in GitHub's published schema."""

import gzip
import importlib
import inspect
import pkgutil
from types import ModuleType

import pytest
from graphql import GraphQLSchema, build_schema, is_input_object_type, parse, validate
from graphql.type import is_interface_type, is_object_type

import github
from github.emulator.rest.graphql.answer import RULES
from github.emulator.rest.graphql.schema import SCHEMA
from tests.github.emulator.graphql.slice import PUBLISHED

# GitHub calls the type of every `databaseId` Int, and gives numbers beyond 32 bits
_AS_PUBLISHED = {"BigInt": "Int"}


@pytest.fixture(scope="module")
def published() -> GraphQLSchema:
    return build_schema(gzip.decompress(PUBLISHED.read_bytes()).decode())


def test_every_field_that_is_answered_is_a_field_of_githubs_with_its_type(published: GraphQLSchema) -> None:
    wrong = []
    for name, ours in SCHEMA.type_map.items():
        if name.startswith("__") or not (is_object_type(ours) or is_interface_type(ours) or is_input_object_type(ours)):
            continue
        theirs = published.type_map.get(name)
        for field, shape in ours.fields.items():
            known = getattr(theirs, "fields", {}).get(field)
            shown = _AS_PUBLISHED.get(str(shape.type), str(shape.type))
            if known is None or (str(known.type) != shown and name != "Mutation"):
                wrong.append(f"{name}.{field}: {shape.type}, not {known and known.type}")
            unknown = set(getattr(shape, "args", {})) - set(getattr(known, "args", {}))
            wrong += [f"{name}.{field}({each})" for each in unknown]
    assert wrong == []


def _modules() -> list[ModuleType]:
    found = pkgutil.walk_packages(github.__path__, "github.")
    return [importlib.import_module(each.name) for each in found if ".emulator" not in each.name]


def _operations() -> list[str]:
    """Every text in the service's modules about GitHub that is a query or mutation."""
    texts = [value for module in _modules() for _, value in inspect.getmembers(module) if isinstance(value, str)]
    return sorted({text for text in texts if text.startswith(("query(", "mutation("))})


@pytest.mark.parametrize("text", _operations(), ids=lambda text: text[:40])
def test_what_the_service_asks_is_valid_at_github(published: GraphQLSchema, text: str) -> None:
    assert [str(each) for each in validate(published, parse(text), RULES)] == []


def test_the_operations_were_found() -> None:
    assert len(_operations()) >= 6
