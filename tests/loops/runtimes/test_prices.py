"""What tokens cost."""

import pytest

from loops.runtimes.prices import PRICES, cost_of, price_of, table_of
from loops.runtimes.spec import Price


@pytest.mark.parametrize(
    ("model", "entry"),
    [
        ("gpt-5", "gpt-5"),
        ("gpt-5-mini-2026-01-01", "gpt-5-mini"),
        ("openai/gpt-5", "gpt-5"),
        ("claude-sonnet-4-5-20250929", "claude-sonnet-4"),
        ("anthropic/claude-opus-4-5", "claude-opus-4-5"),
        ("claude-sonnet-4@20250514", "claude-sonnet-4"),
    ],
)
def test_a_model_has_the_price_of_the_longest_name_that_begins_its_own(model: str, entry: str) -> None:
    assert price_of(model) == PRICES[entry]


@pytest.mark.parametrize("model", ["", "gpt-5.5", "my-own-model", "gpt-50"])
def test_a_model_nobody_knows_has_no_price(model: str) -> None:
    assert price_of(model) is None


def test_cached_input_is_paid_once_at_its_own_price() -> None:
    usage = {"steps": 1, "input": 1_000_000, "cached": 400_000, "output": 100_000, "cost": None}
    assert cost_of(usage, Price(2, 0.5, 10)) == pytest.approx(0.6 * 2 + 0.4 * 0.5 + 0.1 * 10)
    assert cost_of({**usage, "cost": 0.25}, Price(2, 0.5, 10)) == 0.25
    assert cost_of(usage, None) is None


def test_settings_replace_and_add_prices() -> None:
    table = table_of({"gpt-5": {"input": 1, "output": 2}, "my-own-model": {"input": 0, "cached": 0, "output": 0}})
    assert price_of("gpt-5", table) == Price(1, 1, 2)
    assert price_of("my-own-model", table) == Price(0, 0, 0)
    assert price_of("o3", table) == PRICES["o3"]


@pytest.mark.parametrize("entry", [{"input": 1}, {"input": -1, "output": 1}, {"input": "x", "output": 1}])
def test_an_entry_that_is_no_price_is_named(entry: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="'my-model'"):
        table_of({"my-model": entry})
