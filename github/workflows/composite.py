"""Composite actions (`runs.using: composite`), read."""

from dataclasses import dataclass
from typing import Any

import yaml

from github.workflows.workflow import BadWorkflow, StepSpec, steps_of

Json = dict[str, Any]


class BadAction(BadWorkflow):
    """The text is no composite action; `str()` says what it is."""


@dataclass(frozen=True)
class Action:
    """`inputs` by name to their default, `outputs` by name to their expression."""

    inputs: dict[str, str]
    outputs: Json
    steps: list[StepSpec]


def read_action(text: str, name: str) -> Action:
    """The action that `text`, an `action.yml`, describes. Raises `BadAction`, `BadWorkflow`."""
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise BadAction(f"{name}: its action.yml is no YAML") from error
    runs = raw.get("runs") if isinstance(raw, dict) else None
    kind = runs.get("using") if isinstance(runs, dict) else None
    if not isinstance(runs, dict) or kind != "composite":
        raise BadAction(f"{name} is an action of the kind {kind!r}, and only composite ones can be unrolled")
    inputs = {key: str((item or {}).get("default", "")) for key, item in (raw.get("inputs") or {}).items()}
    outputs = {key: (item or {}).get("value", "") for key, item in (raw.get("outputs") or {}).items()}
    return Action(inputs, outputs, steps_of(runs.get("steps"), f"{name}.runs.steps"))
