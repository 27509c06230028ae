"""Runtimes by name."""

import pytest

from loops.runtimes import registry


def test_every_known_name_gives_the_runtime_of_that_name() -> None:
    assert [registry.get(name).name for name in registry.names()] == list(registry.names())


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(registry.UnknownRuntimeError) as caught:
        registry.get("copilot")
    assert str(caught.value) == f'Unknown runtime "copilot". Known: {", ".join(registry.names())}.'
    assert "command" in str(caught.value)
