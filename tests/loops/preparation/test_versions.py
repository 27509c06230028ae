"""What a workflow writes for a version, as a box asks `mise` for it."""

import pytest

from loops.preparation.failed_step import FailedJob, check_of, planned
from loops.preparation.run_steps import RunStep
from tests.loops.preparation.plans import GITHUB, PATH

WORKFLOW = """
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - {{uses: actions/setup-node@v4, with: {{node-version: "{}"}}}}
      - {{name: Unit, run: npm test}}
"""


@pytest.mark.parametrize(
    ("written", "asked"),
    [
        ("20", "20"), ("v20.1.0", "20.1.0"), ("20.x", "20"), ("20.X.x", "20"), ("1.21.*", "1.21"), ("x", "latest"),
        ("", "latest"), ("*", "latest"), ("node", "latest"), ("current", "latest"), ("^20.1", "20"), ("^0.9.1", "0.9"),
        ("~1.22.3", "1.22"), ("~> 3.2.1", "3.2"), ("= 1.22.3", "1.22.3"), (">=18", "latest"), ("<20", "latest"),
        (">=3.9 <3.13", "3.9"), (">= 3.9 < 3.13", "3.9"), ("18 || 20", "20"), ("lts/*", "lts"),
        ("lts/iron", "lts-iron"), ("3.13-dev", "3.13-dev"), ("pypy3.10", "pypy3.10"), ("temurin-17", "temurin-17"),
        ("17.0.2+8", "17.0.2+8"), ("20'; touch x; '", "latest"), ("^$(id)", "latest"), ("lts/`id`", "latest"),
    ],
)  # fmt: skip
def test_a_version_is_asked_for_as_mise_takes_it_and_is_never_a_command(written: str, asked: str) -> None:
    job = FailedJob(PATH, "test", (RunStep("Unit", "failure"),))
    plan, _ = planned({PATH: WORKFLOW.format(written)}, GITHUB, job)
    assert plan is not None
    (tool,) = check_of(plan)["setup"]
    assert f"mise install --yes 'node@{asked}' &&" in tool["run"]
