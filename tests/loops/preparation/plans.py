"""Plans of workflows that tests write."""

import textwrap

from loops.preparation.jobs import Workflows
from loops.preparation.plan import Plan
from loops.preparation.run_steps import RunStep

PATH = ".github/workflows/ci.yml"
GITHUB = {"repository": "acme/widgets", "sha": "1" * 40, "ref": "refs/heads/main", "event_name": "push", "event": {}}


def plans(text: str, files: dict[str, str] | None = None) -> list[Plan]:
    """The plans of all jobs of a workflow, beside other files of its repository."""
    return list(_workflows(text, files).plans(PATH))


def planned(steps: str, run: tuple[RunStep, ...] = (), files: dict[str, str] | None = None, job: str = "") -> Plan:
    """The plan of a workflow's one job with these steps; `job` is what else stands in the job."""
    body = textwrap.indent(textwrap.dedent(steps).strip() + "\n", " " * 6) + textwrap.indent(
        textwrap.dedent(job), " " * 4
    )
    text = f"on: push\njobs:\n  test:\n    runs-on: ubuntu-latest\n    steps:\n{body}"
    plan = _workflows(text, files).plan(PATH, "test", run)
    assert plan is not None
    return plan


def _workflows(text: str, files: dict[str, str] | None) -> Workflows:
    repository = {PATH: textwrap.dedent(text), **(files or {})}
    return Workflows(repository.get, GITHUB)
