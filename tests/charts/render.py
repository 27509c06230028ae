"""Runs the real helm on the chart."""

import functools
import subprocess
from pathlib import Path
from typing import Any

import yaml

from tests.tools import need

Object = dict[str, Any]

CHART = Path(__file__).parent.parent.parent / "charts" / "greenloop"
# The fast loader, where PyYAML has it.
LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
HELMS = ("helm", "helm3")
NEEDED: Object = {"github": {"appId": 4242}, "publicUrl": "https://greenloop.example.com"}


def helm(
    program: str, *arguments: str, values: Object | None = None, env: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run helm with `values` on its standard input (`-f -`)."""
    given = [] if values is None else ["-f", "-"]
    text = None if values is None else yaml.safe_dump(values)
    return subprocess.run(
        [need(program), *arguments, *given],
        input=text,
        text=True,
        capture_output=True,
        check=False,
        timeout=90,
        env=env,
    )


def merged(base: Object, more: Object) -> Object:
    result = dict(base)
    for key, value in more.items():
        old = result.get(key)
        result[key] = merged(old, value) if isinstance(old, dict) and isinstance(value, dict) else value
    return result


def render(values: Object | None = None, *, program: str = "helm", upgrade: bool = False) -> list[Object]:
    """All objects of the chart with `values` on top of the ones that are required."""
    more = ("--is-upgrade",) if upgrade else ()
    text = _template(program, yaml.safe_dump(merged(NEEDED, values or {})), more)
    return [item for item in yaml.load_all(text, Loader=LOADER) if item]


@functools.cache
def _template(program: str, values: str, more: tuple[str, ...]) -> str:
    arguments = ["template", "greenloop", str(CHART), "-n", "team", *more]
    done = helm(program, *arguments, values=yaml.safe_load(values))
    assert done.returncode == 0, done.stderr
    return done.stdout


def one(items: list[Object], kind: str, name: str) -> Object:
    found = [item for item in items if item["kind"] == kind and item["metadata"]["name"] == name]
    assert len(found) == 1, f"{kind} {name}: {len(found)} of {[(i['kind'], i['metadata']['name']) for i in items]}"
    return found[0]


def kinds(items: list[Object]) -> set[str]:
    return {item["kind"] for item in items}


def pod_specs(items: list[Object]) -> dict[str, Object]:
    """The pod spec of everything that makes pods, by kind and name."""
    found = {}
    for item in items:
        if item["kind"] == "Pod":
            found[f"Pod/{item['metadata']['name']}"] = item["spec"]
        elif "template" in item.get("spec", {}):
            found[f"{item['kind']}/{item['metadata']['name']}"] = item["spec"]["template"]["spec"]
    return found
