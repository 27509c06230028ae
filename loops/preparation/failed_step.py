"""The step that failed in a job of GitHub Actions, as a check for a box: what made the job ready, and the step."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from github.workflows.workflow import BadWorkflow
from loops.preparation.jobs import Workflows
from loops.preparation.plan import Bring, Command, Lack, Missing, Need, Plan, Read
from loops.preparation.run_steps import RunStep
from loops.preparation.version_files import version_in
from loops.preparation.versions import prefix

SETUP_JOB = "copilot-setup-steps"
"""The job by which repositories tell how a machine is made ready for a coding agent, and the name of its workflow
(GitHub's documentation, "Customizing the development environment for Copilot coding agent")."""
SETUP_FILE = f".github/workflows/{SETUP_JOB}.yml"
TOLD_BY_STEPS = ("${{ steps.", "${{ env.")
PROGRAMS = {"rust": "cargo", "powershell": "pwsh", "android-sdk": "sdkmanager", "cargo-deny": "cargo-deny"}
"""Tools whose program has another name."""
MISE = """\
if command -v mise >/dev/null; then
  mise install --yes {wanted} && echo "$(mise where {wanted})/bin" >> "$GITHUB_PATH"
elif ! command -v {program} >/dev/null; then
  echo "this box has no {program}"; exit 1
fi"""


@dataclass(frozen=True)
class FailedJob:
    """A job as its run had it: the workflow's file, the name that GitHub shows, its steps."""

    workflow: str
    name: str
    steps: tuple[RunStep, ...]


def planned(
    files: Mapping[str, str | None], github: dict[str, Any], job: FailedJob
) -> tuple[Plan | None, frozenset[str]]:
    """The plan of a failed job up to the step that failed, and which files of the repository it would take to make it
    better than this one. Where the repository has a job that makes machines ready for agents, and a box can do all of
    it, that stands for what the failed job did before."""
    wanted: set[str] = set()

    def read(path: str) -> str | None:
        if path not in files:
            wanted.add(path)
        return files.get(path)

    try:
        plan = Workflows(read, github).plan(job.workflow, job.name, job.steps)
    except BadWorkflow as error:
        plan = Plan(job.name, job.name, missing=(Missing(Lack.WORKFLOW, str(error)),))
    if plan is not None and not lacking(plan):
        plan = _set_up_for_agents(plan, Workflows(read, github))
        plan = replace(plan, needs=tuple(_told_by_file(each, read) for each in plan.needs))
    return plan, frozenset(wanted)


def _told_by_file(tool: Need, read: Read) -> Need:
    """The tool with the version that a file of the repository names, where the workflow leaves it to that."""
    if tool.version or not tool.file:
        return tool
    path = tool.file.removeprefix("./")
    return replace(tool, version=version_in(path, read(path) or "", tool.name))


def _set_up_for_agents(plan: Plan, workflows: Workflows) -> Plan:
    """The plan with the repository's set-up for agents before its failed step. It stays as it is where a box cannot do
    all of that set-up, or where the failed step takes what steps before it in its own job told."""
    failed = plan.failed or 0
    step = plan.of(failed)
    texts = [text for each in step for text in (each.run, each.directory, *each.env.values())]
    if any(mark in text for text in texts for mark in TOLD_BY_STEPS):
        return plan
    try:
        setup = next((each for each in workflows.plans(SETUP_FILE) if each.job == SETUP_JOB), None)
    except BadWorkflow:
        return plan
    if setup is None or _unmet(setup):
        return plan
    before = tuple(replace(each, step=failed - 1, env={**setup.env, **each.env}) for each in setup.commands)
    tools = (*(each for each in setup.needs if each not in plan.needs), *plan.needs)  # of two versions the last is used
    return replace(plan, commands=(*before, *step), needs=tools)


def lacking(plan: Plan | None) -> list[str]:
    """What keeps the failed step from being tried in a box, in words; empty where nothing does."""
    if plan is None:
        return ["its job is not found in the workflow"]
    found = _unmet(plan)
    if not found and (plan.failed is None or not plan.of(plan.failed)):
        found.append("the step that failed runs no command of its own")
    return found


def _unmet(plan: Plan) -> list[str]:
    found = [str(each) for each in plan.missing]
    return found + [_in_words(each) for each in plan.needs if each.kind is not Bring.TOOL]


def check_of(plan: Plan) -> dict[str, Any]:
    """The set-up and the check of a plan that lacks nothing, in the shape of the runner's protocol."""
    failed = plan.failed or 0
    tools = [{"title": f"Look for {each.name}", "run": _tool(each)} for each in plan.needs if each.kind is Bring.TOOL]
    return {
        "setup": [*tools, *_commands(plan.before(failed))],
        "check": _commands(plan.of(failed)),
        "env": {"GITHUB_ACTIONS": "true", **plan.env},
    }


def _tool(tool: Need) -> str:
    program = PROGRAMS.get(tool.name, tool.name)
    program = "python3" if program == "python" else program
    return MISE.format(wanted=f"'{tool.name}@{prefix(tool.version)}'", program=f"'{program}'")


def _commands(commands: Sequence[Command]) -> list[dict[str, Any]]:
    return [
        {
            "run": each.run,
            "id": each.id,
            "title": each.title,
            "shell": each.shell or "",
            "directory": each.directory,
            "env": each.env,
            "forgiven": each.forgiven,
        }
        for each in commands
    ]


def _in_words(need: Need) -> str:
    what = {
        Bring.PACKAGES: f"packages of the system ({need.detail or need.name})",
        Bring.SERVICE: f"the service {need.name} {need.version}".strip(),
        Bring.CONTAINER: f"the container {need.name}",
    }
    return what.get(need.kind, need.name)
