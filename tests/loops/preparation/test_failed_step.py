"""The step that failed in a job, as a check for a box."""

import textwrap

from loops.preparation.failed_step import SETUP_FILE, FailedJob, check_of, lacking, planned
from loops.preparation.plan import Plan
from loops.preparation.run_steps import RunStep
from tests.loops.preparation.plans import GITHUB, PATH

WORKFLOW = textwrap.dedent("""
    on: push
    env: {LEVEL: high}
    jobs:
      test:
        strategy: {matrix: {go: ["1.22", "1.23"]}}
        runs-on: ubuntu-latest
        steps:
          - uses: actions/checkout@v4
          - {uses: actions/setup-go@v5, with: {go-version: "${{ matrix.go }}"}}
          - run: go mod download
          - {name: Unit, run: "go test ./... -count ${{ matrix.go }}", working-directory: src, env: {A: "1"}}
          - {name: Image, run: docker build .}
""")
RUN = (
    RunStep("Set up job", "success"),
    RunStep("Run actions/checkout@v4", "success"),
    RunStep("Run actions/setup-go@v5", "success"),
    RunStep("Run go mod download", "success"),
    RunStep("Unit", "failure"),
    RunStep("Image", "skipped"),
    RunStep("Post Run actions/checkout@v4", "success"),
)


SETUP = textwrap.dedent("""
    on: workflow_dispatch
    env: {LEVEL: low, MIRROR: near}
    jobs:
      other: {runs-on: ubuntu-latest, steps: [{run: make other}]}
      copilot-setup-steps:
        name: Ready for agents
        runs-on: ubuntu-latest
        steps:
          - uses: actions/checkout@v4
          - {uses: actions/setup-go@v5, with: {go-version: "1.21"}}
          - {id: made, run: make ready, env: {A: "2"}}
          - run: echo ${{ steps.made.outputs.what }}
""")


def failed(text: str, name: str = "test (1.23)", run: tuple[RunStep, ...] = RUN, setup: str = "") -> Plan | None:
    files = {PATH: text, SETUP_FILE: setup or None}
    return planned(files, GITHUB, FailedJob(PATH, name, run))[0]


def test_what_came_before_the_failed_step_sets_the_box_up_and_the_step_is_the_check() -> None:
    plan = failed(WORKFLOW)
    assert plan is not None and lacking(plan) == []
    check = check_of(plan)
    tool, download = check["setup"]
    assert "go@1.23" in tool["run"] and "command -v 'go'" in tool["run"]
    assert download["run"] == "go mod download"
    (unit,) = check["check"]
    assert (unit["run"], unit["directory"], unit["env"]) == ("go test ./... -count 1.23", "src", {"A": "1"})
    assert check["env"] == {"GITHUB_ACTIONS": "true", "LEVEL": "high"}


def test_what_a_box_lacks_before_or_in_the_failed_step_is_said_and_what_comes_later_is_not() -> None:
    later = (*RUN[:4], RunStep("Unit", "success"), RunStep("Image", "failure"))
    assert lacking(failed(WORKFLOW, run=later)) == ["Docker: docker build"]
    packages = WORKFLOW.replace("go mod download", "sudo apt-get install -y libpq-dev")
    renamed = (*RUN[:3], RunStep("Run sudo apt-get install -y libpq-dev", "success"), *RUN[4:])
    assert lacking(failed(packages, run=renamed)) == ["packages of the system (libpq-dev)"]
    with_service = WORKFLOW.replace("    steps:", "    services: {db: {image: 'postgres:16'}}\n    steps:")
    assert lacking(failed(with_service)) == ["the service postgresql 16"]


def test_a_job_that_is_not_there_and_a_step_that_only_uses_an_action_are_said() -> None:
    assert lacking(failed(WORKFLOW, name="other")) == ["its job is not found in the workflow"]
    action = (*RUN[:1], RunStep("Run actions/checkout@v4", "failure"))
    assert lacking(failed(WORKFLOW, run=action)) == ["the step that failed runs no command of its own"]
    assert "cannot be read" in lacking(failed("on: push"))[0]


def test_the_repository_s_set_up_for_agents_stands_for_what_the_failed_job_did_before() -> None:
    plan = failed(WORKFLOW, setup=SETUP)
    assert plan is not None and lacking(plan) == []
    check = check_of(plan)
    older, tool, ready, told = check["setup"]
    assert "go@1.21" in older["run"] and "go@1.23" in tool["run"]
    assert (ready["run"], ready["id"]) == ("make ready", "made")
    assert ready["env"] == {"LEVEL": "low", "MIRROR": "near", "A": "2"}
    assert told["run"] == "echo ${{ steps.made.outputs.what }}"
    (unit,) = check["check"]
    assert (unit["run"], unit["env"]) == ("go test ./... -count 1.23", {"A": "1"})
    assert check["env"] == {"GITHUB_ACTIONS": "true", "LEVEL": "high"}


def test_a_set_up_that_a_box_cannot_do_whole_leaves_what_the_failed_job_did() -> None:
    own = failed(WORKFLOW)
    for setup in (
        SETUP.replace("make ready", "docker compose up -d"),
        SETUP.replace("make ready", "make ${{ secrets.KEY }}"),
        SETUP.replace("copilot-setup-steps:", "another:"),
        SETUP.replace("    steps:", "    services: {db: {image: 'postgres:16'}}\n    steps:"),
        "on: push",
        "{",
    ):
        assert failed(WORKFLOW, setup=setup) == own, setup


def test_a_failed_step_that_takes_what_its_own_job_told_keeps_the_steps_of_its_job() -> None:
    telling = WORKFLOW.replace("{name: Unit,", "{id: got, run: go mod download}\n      - {name: Unit,")
    for taken in ("${{ steps.got.outputs.where }}", "${{ env.WHERE }}"):
        text = telling.replace("- run: go mod download\n", "- run: echo WHERE=x >> $GITHUB_ENV\n")
        text = text.replace('A: "1"', f'A: "{taken}"')
        assert taken in text
        assert failed(text, setup=SETUP) == failed(text) != failed(WORKFLOW, setup=SETUP)


def test_files_that_the_workflow_names_are_asked_for_by_their_paths() -> None:
    text = "on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [{uses: ./tools/setup}]}}\n"
    job = FailedJob(PATH, "a", (RunStep("Run ./tools/setup", "failure"),))
    assert planned({}, GITHUB, job)[1] == {PATH}
    assert planned({PATH: text}, GITHUB, job)[1] == {"tools/setup/action.yml", "tools/setup/action.yaml"}
    assert planned({PATH: WORKFLOW}, GITHUB, FailedJob(PATH, "test (1.23)", RUN))[1] == {SETUP_FILE}
