"""Actions that steps name with `uses:`. What is not done here fails its step: nothing is green without the work."""

import asyncio
import re
import shutil
from dataclasses import dataclass

from github.emulator.actions.runner import artifacts, steps
from github.emulator.actions.runner.joblog import JobLog
from github.emulator.actions.runner.workspace import Workspace
from github.emulator.store.runs import Run
from github.emulator.store.store import Store

# what actions set up, and the program of this machine that takes its place
SET_UP = {
    "actions/setup-python": "python3",
    "actions/setup-node": "node",
    "actions/setup-go": "go",
    "actions/setup-java": "java",
    "actions/setup-dotnet": "dotnet",
    "ruby/setup-ruby": "ruby",
    "astral-sh/setup-uv": "uv",
    "pnpm/action-setup": "pnpm",
    "oven-sh/setup-bun": "bun",
    "denoland/setup-deno": "deno",
    "shivammathur/setup-php": "php",
}


class CannotDo(Exception):
    """This local GitHub cannot do what the step asks for."""


@dataclass(frozen=True)
class Place:
    """Where an action works: the job's run, folders and log."""

    store: Store
    run: Run
    space: Workspace
    log: JobLog


async def use(place: Place, name: str, inputs: dict[str, str]) -> dict[str, str]:
    """What a `uses:` step does here, with its lines in the log; its outputs. Raises `CannotDo`."""
    action = name.partition("@")[0].lower()
    place.log.group(f"Run {name}", steps.shown_inputs(inputs))
    if action == "actions/checkout":
        return await _checkout(place, inputs)
    if program := SET_UP.get(action):
        if shutil.which(program) is None:
            raise CannotDo(f"{name} cannot be done by the local GitHub: there is no {program} on this machine")
        if program == "python3":
            place.space.provide_python()
        place.log.line(f"{name} is taken as done: {program} of this machine is used, whatever its version")
        return {}
    if re.fullmatch(r"actions/cache(/(restore|save))?", action):
        place.log.line(f"Cache not found for input keys: {inputs.get('key', '')}")
        if inputs.get("fail-on-cache-miss", "").lower() == "true":
            raise CannotDo(f"Failed to restore cache entry. Exiting as fail-on-cache-miss is set: {inputs.get('key')}")
        return {"cache-hit": ""}
    if action == "actions/upload-artifact":
        return artifacts.upload(place.store, place.run, place.space.checkout, place.log, inputs)
    if action == "actions/download-artifact":
        return artifacts.download(place.store, place.run, place.space.checkout, place.log, inputs)
    raise CannotDo(f"{name} is an action that the local GitHub cannot run, so this step fails: on GitHub it would run")


async def _checkout(place: Place, inputs: dict[str, str]) -> dict[str, str]:
    """A checkout of the run's commit, or of what `repository` and `ref` say, in the folder `path`."""
    repository, mine = place.run.repository, True
    other = inputs.get("repository", repository.full_name)
    if other.lower() != repository.full_name.lower():
        found = place.store.repository(other)
        if found is None or found.private:
            raise CannotDo(f"The repository {other} is not on the local GitHub, or the job may not read it")
        repository, mine = found, False
    place.log.line(f"Syncing repository: {repository.full_name}")
    wanted, path = inputs.get("ref", ""), inputs.get("path", "")
    own = place.run.checkout_sha if mine else repository.git.resolve(repository.default_branch)
    sha = repository.git.resolve(wanted) if wanted else own
    if sha is None:
        raise OSError(f"A branch or tag with the name '{wanted}' could not be found")
    url = f"{place.store.origins.web}/{repository.full_name}"
    workspace = place.space.checkout.resolve()
    folder = (workspace / path).resolve()
    if not folder.is_relative_to(workspace):
        raise CannotDo(f"Repository path '{folder}' is not under '{workspace}'")
    await asyncio.to_thread(place.space.fill, repository.git, sha, url, folder)
    if inputs.get("persist-credentials", "true").lower() != "false" and inputs.get("token"):
        place.log.mask(await asyncio.to_thread(place.space.authorize, folder, place.store.origins.web, inputs["token"]))
    place.log.line(f"[command]/usr/bin/git log -1 --format=%H\n{sha}")
    return {"commit": sha, "ref": wanted or place.run.ref}
