"""`make bench-workflows`: for how many jobs of real workflow files there is a plan, and what of a box it takes."""

import json
import sys
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from github.workflows.workflow import BadWorkflow
from loops.preparation.jobs import Workflows
from loops.preparation.plan import Bring, Lack, Plan

BENCH = Path(__file__).parents[3] / "shared" / "bench" / "workflows"
AIM = 0.80
PYTHON_NODE = {"python", "node", "uv", "pnpm", "yarn", "poetry", "pdm", "tox", "pre-commit", "prek", "ruff", "black"}
LANGUAGES = (
    ("python, node, uv, pnpm", PYTHON_NODE),
    ("go, rust", {"go", "rust"}),
    ("java, ruby, php, dotnet", {"java", "ruby", "php", "dotnet"}),
)


def main() -> None:
    if not BENCH.is_dir():
        raise SystemExit(f"{BENCH} is missing: lay the shared benchmark beside the repository")
    index = json.loads((BENCH / "index.json").read_text())
    jobs = [each for each in json.loads((BENCH / "jobs.json").read_text()) if each["kind"] == "code"]
    found = [(each, _plans(index, each)) for each in jobs if each["rows_linux"]]
    _table([plans for _, plans in found])
    _reasons(found)
    done = sum(all(plan.is_complete for plan in plans) and bool(plans) for _, plans in found)
    sys.exit(0 if done >= AIM * len(found) else 1)


def _plans(index: dict[str, dict[str, str]], job: dict[str, str]) -> list[Plan]:
    """The plans of a job's rows on Linux."""
    about = index[job["file"]]
    beside = {each["path"]: name for name, each in index.items() if each["repo"] == about["repo"]}

    def read(path: str) -> str | None:
        file = BENCH / "files" / beside[path] if path in beside else _action(about["repo"], path)
        return file.read_text() if file.is_file() else None

    github: dict[str, Any] = {
        "repository": about["repo"],
        "sha": "0" * 40,
        "ref": "refs/heads/main",
        "event_name": "push",
    }
    github |= {"ref_name": "main", "head_ref": "", "base_ref": "", "event": {}, "actor": "someone", "run_id": "1"}
    owner = {"repository_owner": about["repo"].partition("/")[0], "workflow": "CI", "run_number": "1"}
    key = "/".join([*job["via"].strip(">").split(">"), job["job"]]) if job["via"] else job["job"]
    try:
        found = list(Workflows(read, github | owner).plans(about["path"]))
        called = key.partition("/")[0]  # where what it calls cannot be read, there is the caller alone
        plans = [each for each in found if each.job == key] or [each for each in found if each.job == called]
    except BadWorkflow as error:
        print(f"{job['file']} {key}: {error}")
        return []
    linux = [each for each in plans if not any(missing.kind is Lack.RUNNER for missing in each.missing)]
    return linux or plans


def _action(repository: str, path: str) -> Path:
    return BENCH / "actions" / repository.replace("/", "__") / path


def _table(jobs: list[list[Plan]]) -> None:
    """The cumulative share of jobs whose every need is met, as support grows."""
    has: set[str] = set()
    kinds = {Bring.TOOL}
    print(f"{len(jobs)} jobs\n{'adds':32} %")
    for name, tools in LANGUAGES:
        has |= tools
        _line(name, jobs, kinds, has)
    _line("every other tool", jobs, kinds, None)
    for kind in (Bring.PACKAGES, Bring.SERVICE, Bring.CONTAINER):
        kinds.add(kind)
        _line(kind.value, jobs, kinds, None)


def _line(name: str, jobs: list[list[Plan]], kinds: set[Bring], tools: set[str] | None) -> None:
    met = sum(bool(plans) and all(_met(plan, kinds, tools) for plan in plans) for plans in jobs)
    print(f"{name:32} {100 * met / len(jobs):.0f}")


def _met(plan: Plan, kinds: set[Bring], tools: set[str] | None) -> bool:
    needs = (each for each in plan.needs)
    return plan.is_complete and all(
        each.kind in kinds and (each.kind is not Bring.TOOL or tools is None or each.name in tools) for each in needs
    )


def _reasons(found: Iterable[tuple[dict[str, str], list[Plan]]]) -> None:
    counted: Counter[str] = Counter()
    for job, plans in found:
        reason = next((each.missing[0] for each in plans if each.missing), None)
        if reason is not None or not plans:
            counted[reason.kind.name.lower() if reason else "no plan"] += 1
            print(f"{job['file']} {job['job']}: {str(reason or 'no plan').splitlines()[0][:150]}")
    print(dict(counted.most_common()))


if __name__ == "__main__":
    main()
