"""Composite actions of the repository itself (`uses: ./path`)."""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml

from github.emulator.actions.language.workflow import StepSpec, steps_of
from github.emulator.actions.runner.uses import CannotDo

Json = dict[str, Any]


@dataclass(frozen=True)
class Action:
    """`inputs` by name to their default, `outputs` by name to their expression."""

    inputs: dict[str, str]
    outputs: Json
    steps: list[StepSpec]


def read(checkout: Path, name: str) -> Action:
    """The action in that folder. Raises `CannotDo` for one of another kind, `BadWorkflow` for one that is none."""
    folder = checkout / name.removeprefix("./")
    file = next((folder / each for each in ("action.yml", "action.yaml") if (folder / each).is_file()), None)
    if file is None:
        raise CannotDo(
            f"Can't find 'action.yml' or 'action.yaml' under '{name}'. Did you forget to run actions/checkout?"
        )
    raw = yaml.safe_load(file.read_text())
    runs = raw.get("runs") if isinstance(raw, dict) else None
    kind = runs.get("using") if isinstance(runs, dict) else None
    if not isinstance(runs, dict) or kind != "composite":
        raise CannotDo(f"{name} is an action of the kind {kind!r}: the local GitHub runs composite ones only")
    inputs = {key: str((item or {}).get("default", "")) for key, item in (raw.get("inputs") or {}).items()}
    outputs = {key: (item or {}).get("value", "") for key, item in (raw.get("outputs") or {}).items()}
    return Action(inputs, outputs, steps_of(runs.get("steps"), f"{name}.runs.steps"))
