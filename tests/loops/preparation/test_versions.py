"""What a workflow writes for a version, as a box asks `mise` for it."""

import pytest

from loops.preparation.failed_step import SETUP_FILE, FailedJob, check_of, planned
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


@pytest.mark.parametrize(
    ("action", "given", "text", "asked"),
    [
        ("node", ".nvmrc", "\n# ours\nv20.1.0\n", "node@20.1.0"),
        ("node", "./web/.node-version", "lts/*", "node@lts"),
        ("node", ".tool-versions", "python 3.12\nnodejs 20.1 # old\n", "node@20.1"),
        ("node", "package.json", '{"engines": {"node": ">=18"}, "volta": {"node": "20.2.0"}}', "node@20.2.0"),
        ("node", "package.json", '{"packageManager": "pnpm@9.1.0", "engines": {"node": "^22.1"}}', "node@22"),
        ("node", "package.json", '{"engines": ["node"]}', "node@latest"),
        ("node", "package.json", "[" * 100_000, "node@latest"),
        ("python", ".python-version", "3.12\n3.11\n", "python@3.12"),
        ("python", "pyproject.toml", '[project]\nrequires-python = ">=3.11, <3.13"', "python@3.11"),
        ("python", "pyproject.toml", "[project", "python@latest"),
        ("go", "go.mod", "module a\n\ngo 1.21\n", "go@1.21"),
        ("go", "src/go.mod", "module a\ngo 1.21\ntoolchain go1.22.3\n", "go@1.22.3"),
        ("go", "go.mod", "", "go@latest"),
        ("java", ".java-version", "17'; touch x; '", "java@latest"),
    ],
)
def test_the_file_that_a_workflow_names_tells_the_version(action: str, given: str, text: str, asked: str) -> None:
    workflow = WORKFLOW.format("").replace("setup-node", f"setup-{action}")
    workflow = workflow.replace('node-version: ""', f"{action}-version-file: {given}")
    job = FailedJob(PATH, "test", (RunStep("Unit", "failure"),))
    files = {PATH: workflow, SETUP_FILE: None}
    path = given.removeprefix("./")
    assert planned(files, GITHUB, job)[1] == {path}
    plan, wanted = planned({**files, path: text}, GITHUB, job)
    assert plan is not None and not wanted
    (tool,) = check_of(plan)["setup"]
    assert f"mise install --yes '{asked}' &&" in tool["run"]
