"""Actions that steps name with `uses:`. Checking out and setting up are done already; other actions are not run."""

import asyncio
import re
from typing import TYPE_CHECKING

from github.emulator.actions import steps

if TYPE_CHECKING:
    from github.emulator.actions.jobrun import JobRun


async def use(run: "JobRun", name: str, inputs: dict[str, str]) -> None:
    """What a `uses:` step does here, with its lines in the log."""
    action = name.partition("@")[0].lower()
    run.log.group(f"Run {name}", steps.shown_inputs(inputs))
    if action == "actions/checkout":
        await _checkout(run, inputs)
    elif re.fullmatch(r".*/setup-[\w-]+", action):
        if action == "actions/setup-python":
            run.space.provide_python()
        run.log.line(f"{name} is taken as done: the tools of this machine are used")
    else:
        run.log.line(f"##[warning]{name} is not run here: its step is passed over")


async def _checkout(run: "JobRun", inputs: dict[str, str]) -> None:
    """The commit of the run is checked out already; `ref` and `path` are followed, another repository is not."""
    repository = run.job.run.repository
    other = inputs.get("repository", repository.full_name)
    if other.lower() != repository.full_name.lower():
        run.log.line(f"##[warning]The repository {other} is not checked out here")
        return
    run.log.line(f"Syncing repository: {repository.full_name}")
    wanted, path = inputs.get("ref", ""), inputs.get("path", "")
    sha = repository.git.resolve(wanted) if wanted else run.job.run.checkout_sha
    if sha is None:
        raise OSError(f"A branch or tag with the name '{wanted}' could not be found")
    if wanted or path:
        target = run.space.checkout / path if path else None
        url = f"{run.hub.web_url}/{repository.full_name}"
        await asyncio.to_thread(run.space.fill, repository.git, sha, url, target)
    run.log.line(f"[command]/usr/bin/git log -1 --format=%H\n{sha}")
