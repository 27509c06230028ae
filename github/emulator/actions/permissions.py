"""What the `GITHUB_TOKEN` of a job may do."""

from typing import Any

from github.emulator.store.runs import Run

DEFAULT = {"contents": "read", "metadata": "read", "packages": "read"}
NAMES = (
    "actions",
    "checks",
    "contents",
    "deployments",
    "issues",
    "packages",
    "pages",
    "pull_requests",
    "statuses",
)


def permissions(run: Run, *asked: Any) -> dict[str, str]:
    """The first of the `permissions:` that says anything (of the job, of the workflow), else the default of GitHub.

    A fork's pull request gets no more than reading.
    """
    raw = next((each for each in asked if each is not None), None)
    if raw is None:
        found = dict(DEFAULT)
    elif isinstance(raw, str):
        found = dict.fromkeys(NAMES, "write" if raw == "write-all" else "read")
    else:
        levels = {str(name).replace("-", "_"): str(level) for name, level in raw.items()}
        found = {name: level for name, level in levels.items() if level in ("read", "write")}
    if run.event == "pull_request" and run.head_repository is not run.repository:
        found = dict.fromkeys(found, "read")
    return {"metadata": "read"} | found
