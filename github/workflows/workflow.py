"""A workflow file, read and checked."""

from dataclasses import dataclass, field
from typing import Any

import yaml

Json = dict[str, Any]


class BadWorkflow(ValueError):
    """The file is no workflow; the text is what GitHub's page would say."""


@dataclass(frozen=True)
class StepSpec:
    """A step as written. Exactly one of `run` and `uses` is set."""

    run: str | None
    uses: str | None
    name: str | None
    id: str
    condition: Any
    env: Json | str
    inputs: Json
    shell: str | None
    directory: str | None
    continue_on_error: Any
    timeout: Any


@dataclass(frozen=True)
class JobSpec:
    """A job as written, before its matrix is unfolded."""

    key: str
    name: str | None
    needs: list[str]
    condition: Any
    env: Json | str
    runs_on: Any
    strategy: Any
    steps: list[StepSpec]
    outputs: Json
    defaults: Json
    continue_on_error: Any
    timeout: Any
    uses: str | None = None
    inputs: Json = field(default_factory=dict)
    secrets: Any = None
    concurrency: Any = None
    environment: Any = None
    permissions: Any = None
    services: Any = None
    container: Any = None


@dataclass(frozen=True)
class WorkflowSpec:
    """A workflow as written. `triggers` maps an event to its filters."""

    name: str
    triggers: dict[str, Json]
    env: Json
    defaults: Json
    jobs: dict[str, JobSpec]
    concurrency: Any = None
    run_name: str | None = None
    permissions: Any = None


def _mapping(value: Any, where: str) -> Json:
    if value is None:
        return {}
    if not isinstance(value, dict):
        raise BadWorkflow(f"{where}: a mapping was expected")
    return value


def _triggers(raw: Any) -> dict[str, Json]:
    if isinstance(raw, str):
        return {raw: {}}
    if isinstance(raw, list):
        return {str(name): {} for name in raw}
    if isinstance(raw, dict):
        return {str(name): item if isinstance(item, dict) else {} for name, item in raw.items()}
    raise BadWorkflow("No event triggers defined in `on`")


def read(text: str, path: str) -> WorkflowSpec:
    """Read a workflow file. Raises `BadWorkflow` with a line where that is known."""
    try:
        raw = yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = f" on line {mark.line + 1}" if mark is not None else ""
        raise BadWorkflow(f"You have an error in your yaml syntax{line}") from error
    if not isinstance(raw, dict):
        raise BadWorkflow("The workflow is not valid: a mapping was expected")
    # YAML 1.1 reads the key `on` as true
    triggers = _triggers(raw.get("on", raw.get(True)))
    jobs = _mapping(raw.get("jobs"), "jobs")
    if not jobs:
        raise BadWorkflow("Required property is missing: jobs")
    defaults = _mapping(_mapping(raw.get("defaults"), "defaults").get("run"), "defaults.run")
    specs = {str(key): _job(str(key), value) for key, value in jobs.items()}
    for spec in specs.values():
        for need in spec.needs:
            if need not in specs:
                raise BadWorkflow(f"Job '{spec.key}' depends on unknown job '{need}'.")
    _refuse_cycles(specs)
    return WorkflowSpec(
        name=str(raw.get("name") or path),
        triggers=triggers,
        env=_mapping(raw.get("env"), "env"),
        defaults=defaults,
        jobs=specs,
        concurrency=raw.get("concurrency"),
        run_name=raw.get("run-name"),
        permissions=raw.get("permissions"),
    )


def _refuse_cycles(specs: dict[str, JobSpec]) -> None:
    done: set[str] = set()
    while len(done) < len(specs):
        ready = {key for key, spec in specs.items() if key not in done and done.issuperset(spec.needs)}
        if not ready:
            raise BadWorkflow("The workflow must contain at least one job with no dependencies.")
        done |= ready


def steps_of(raw: Any, where: str) -> list[StepSpec]:
    """The steps of a composite action. Raises `BadWorkflow`."""
    if not isinstance(raw, list):
        raise BadWorkflow(f"{where}: a list of steps was expected")
    return [_step(where, index, item) for index, item in enumerate(raw)]


def _job(key: str, raw: Any) -> JobSpec:
    body = _mapping(raw, f"jobs.{key}")
    needs = body.get("needs") or []
    uses = body.get("uses")
    if "runs-on" not in body and uses is None:
        raise BadWorkflow(f"jobs.{key}: Required property is missing: runs-on")
    steps = body.get("steps")
    if uses is None and (not isinstance(steps, list) or not steps):
        raise BadWorkflow(f"jobs.{key}: Required property is missing: steps")
    return JobSpec(
        key=key,
        name=None if body.get("name") is None else str(body["name"]),
        needs=[needs] if isinstance(needs, str) else [str(need) for need in needs],
        condition=body.get("if"),
        env=_environment(body.get("env"), f"jobs.{key}.env"),
        runs_on=body.get("runs-on", "ubuntu-latest"),
        strategy=body.get("strategy"),
        steps=[_step(key, index, item) for index, item in enumerate(steps or [])],
        outputs=_mapping(body.get("outputs"), f"jobs.{key}.outputs"),
        defaults=_mapping(_mapping(body.get("defaults"), f"jobs.{key}.defaults").get("run"), "defaults.run"),
        continue_on_error=body.get("continue-on-error"),
        timeout=body.get("timeout-minutes"),
        uses=None if uses is None else str(uses),
        inputs=_mapping(body.get("with"), f"jobs.{key}.with"),
        secrets=body.get("secrets"),
        concurrency=body.get("concurrency"),
        environment=body.get("environment"),
        permissions=body.get("permissions"),
        services=body.get("services"),
        container=body.get("container"),
    )


def _environment(value: Any, where: str) -> Json | str:
    """A mapping, or one expression that gives one."""
    return value if isinstance(value, str) and value.strip().startswith("${{") else _mapping(value, where)


def _step(key: str, index: int, raw: Any) -> StepSpec:
    where = f"jobs.{key}.steps[{index}]"
    body = _mapping(raw, where)
    run, uses = body.get("run"), body.get("uses")
    if (run is None) == (uses is None):
        raise BadWorkflow(f"{where}: every step must define a `uses` or `run` key")
    return StepSpec(
        run=None if run is None else str(run),
        uses=None if uses is None else str(uses),
        name=None if body.get("name") is None else str(body["name"]),
        id=str(body.get("id") or f"__{index}"),
        condition=body.get("if"),
        env=_environment(body.get("env"), f"{where}.env"),
        inputs=_mapping(body.get("with"), f"{where}.with"),
        shell=body.get("shell"),
        directory=body.get("working-directory"),
        continue_on_error=body.get("continue-on-error"),
        timeout=body.get("timeout-minutes"),
    )
