"""Actions that steps name with `uses:`. Checking out and setting up are done already; other actions are not run."""

import asyncio
import re
from dataclasses import dataclass

from github.emulator.actions.runner import steps
from github.emulator.actions.runner.joblog import JobLog
from github.emulator.actions.runner.workspace import Workspace
from github.emulator.store.runs import Run


@dataclass(frozen=True)
class Place:
    """Where an action works: the job's run, folders and log, and the web host's URL."""

    run: Run
    space: Workspace
    log: JobLog
    web_url: str


async def use(place: Place, name: str, inputs: dict[str, str]) -> None:
    """What a `uses:` step does here, with its lines in the log."""
    action = name.partition("@")[0].lower()
    place.log.group(f"Run {name}", steps.shown_inputs(inputs))
    if action == "actions/checkout":
        await _checkout(place, inputs)
    elif re.fullmatch(r".*/setup-[\w-]+", action):
        if action == "actions/setup-python":
            place.space.provide_python()
        place.log.line(f"{name} is taken as done: the tools of this machine are used")
    else:
        place.log.line(f"##[warning]{name} is not run here: its step is passed over")


async def _checkout(place: Place, inputs: dict[str, str]) -> None:
    """The commit of the run is checked out already; `ref` and `path` are followed, another repository is not."""
    repository = place.run.repository
    other = inputs.get("repository", repository.full_name)
    if other.lower() != repository.full_name.lower():
        place.log.line(f"##[warning]The repository {other} is not checked out here")
        return
    place.log.line(f"Syncing repository: {repository.full_name}")
    wanted, path = inputs.get("ref", ""), inputs.get("path", "")
    sha = repository.git.resolve(wanted) if wanted else place.run.checkout_sha
    if sha is None:
        raise OSError(f"A branch or tag with the name '{wanted}' could not be found")
    if wanted or path:
        target = place.space.checkout / path if path else None
        url = f"{place.web_url}/{repository.full_name}"
        await asyncio.to_thread(place.space.fill, repository.git, sha, url, target)
    place.log.line(f"[command]/usr/bin/git log -1 --format=%H\n{sha}")
