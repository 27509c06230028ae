"""What tokens cost, for CLIs that do not say it themselves."""

from collections.abc import Mapping
from typing import Final

from loops.runtimes import registry
from loops.runtimes.base import JSON
from loops.runtimes.spec import Price

Table = Mapping[str, Price]

# They age: settings replace them, entry by entry.
PRICES: Final[Table] = {model: price for runtime in registry.every() for model, price in runtime.prices.items()}
"""Published list prices, by the beginning of the model's name; each runtime knows those of its own provider."""


def table_of(replaced: Mapping[str, Mapping[str, float]]) -> Table:
    """Our prices with those of the settings in their place: `{"model": {"input": 1, "cached": 0.1, "output": 4}}`.

    `cached` defaults to `input`. Raises ValueError naming the model whose entry is no price.
    """
    table = dict(PRICES)
    for model, entry in replaced.items():
        try:
            price = Price(float(entry["input"]), float(entry.get("cached", entry["input"])), float(entry["output"]))
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(
                f"The price of {model!r} needs `input` and `output`, US dollars for a million tokens: {error}."
            ) from None
        if min(price.input, price.cached, price.output) < 0:
            raise ValueError(f"The price of {model!r} is below zero.")
        table[model] = price
    return table


def price_of(model: str, table: Table = PRICES) -> Price | None:
    """The price of the longest entry that begins the model's name (without its provider); None where nobody knows it.

    An entry ends at a word: `gpt-5` is the price of `gpt-5-2026-01-01`, but not of `gpt-5.5`.
    """
    names = (model, model.rsplit("/", 1)[-1])
    found = [entry for entry in table for name in names if name == entry or name.startswith((f"{entry}-", f"{entry}@"))]
    return table[max(found, key=len)] if found else None


def cost_of(usage: JSON, price: Price | None) -> float | None:
    """The cost of a usage event's payload: as the CLI tells it, else by `price`, else None."""
    told = usage.get("cost")
    if told is not None:
        return float(told)
    if price is None:
        return None
    fresh = max(0, usage["input"] - usage["cached"])
    return float(fresh * price.input + usage["cached"] * price.cached + usage["output"] * price.output) / 1_000_000
