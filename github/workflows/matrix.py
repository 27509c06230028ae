"""A `strategy.matrix` unfolded into combinations, with `include` and `exclude`."""

import itertools
from typing import Any

from github.workflows.expressions import as_text
from github.workflows.workflow import BadWorkflow

MAX_JOBS = 256


def unfold(matrix: Any) -> list[dict[str, Any]]:
    """The combinations; one empty one without a matrix. Raises `BadWorkflow`."""
    if not matrix:
        return [{}]
    if not isinstance(matrix, dict):
        raise BadWorkflow("strategy.matrix: a mapping was expected")
    axes = {key: value for key, value in matrix.items() if key not in ("include", "exclude")}
    for key, values in axes.items():
        if not isinstance(values, list) or not values:
            raise BadWorkflow(f"Matrix vector '{key}' does not contain any values")
    rows = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())] if axes else []
    for wanted in matrix.get("exclude") or []:
        rows = [row for row in rows if not all(row.get(key) == value for key, value in wanted.items())]
    originals = [dict(row) for row in rows]
    for extra in matrix.get("include") or []:
        fits = [
            row
            for row, original in zip(rows, originals, strict=True)
            if all(original[key] == value for key, value in extra.items() if key in original)
        ]
        if fits and axes:
            for row in fits:
                row.update(extra)
        else:
            rows.append(dict(extra))
            originals.append(dict(extra))
    if not rows or len(rows) > MAX_JOBS:
        raise BadWorkflow(f"The strategy of a job makes {len(rows)} jobs: 1 to {MAX_JOBS} are possible")
    return rows


def suffix(row: dict[str, Any]) -> str:
    """What GitHub appends to the name of a job of a matrix: its values in brackets, those inside objects too."""
    shown = [text for value in row.values() for text in _leaves(value) if text]
    return f" ({', '.join(shown)})" if shown else ""


def _leaves(value: Any) -> list[str]:
    if isinstance(value, dict):
        return [text for item in value.values() for text in _leaves(item)]
    if isinstance(value, list):
        return [text for item in value for text in _leaves(item)]
    return [as_text(value)]
