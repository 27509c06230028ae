"""What tokens cost, for CLIs that do not say it themselves."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

from loops.runtimes.base import JSON


@dataclass(frozen=True)
class Price:
    """US dollars for a million tokens: `input` that is not cached, `cached` input, and `output`."""

    input: float
    cached: float
    output: float


Table = Mapping[str, Price]

# Published list prices, by the beginning of the model's name. They age: settings replace them, entry by entry.
PRICES: Final[Table] = {
    "gpt-5": Price(1.25, 0.125, 10),
    "gpt-5-mini": Price(0.25, 0.025, 2),
    "gpt-5-nano": Price(0.05, 0.005, 0.4),
    "gpt-4.1": Price(2, 0.5, 8),
    "gpt-4.1-mini": Price(0.4, 0.1, 1.6),
    "gpt-4o": Price(2.5, 1.25, 10),
    "gpt-4o-mini": Price(0.15, 0.075, 0.6),
    "o3": Price(2, 0.5, 8),
    "o4-mini": Price(1.1, 0.275, 4.4),
    "claude-opus-4": Price(15, 1.5, 75),
    "claude-opus-4-5": Price(5, 0.5, 25),
    "claude-sonnet-4": Price(3, 0.3, 15),
    "claude-sonnet-5": Price(2, 0.2, 10),
    "claude-haiku-4-5": Price(1, 0.1, 5),
}


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
