"""A newcomer's first hour with a client that nobody here wrote: it has to work as it works on GitHub."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from github.emulator.faults import Faults
from tests.github.contract.clients.foreign import flow, skip_unless
from tests.github.contract.local import LocalTarget
from tests.github.contract.target import Target

LABELS = "/repos/*/labels"
# what a client makes of a limit that it meets: it waits and gets its answer, or says what it met
LIMITS: dict[str, tuple[str, Any]] = {
    "pygithub_flow.py": ("secondary_limit", None),
    "gidgethub_flow.py": ("primary_limit", True),
    "ghapi_flow.py": ("secondary_limit", 403),
    "octokit_flow.mjs": ("secondary_limit", 1),
}


@pytest.fixture
def faults(target: Target) -> Iterator[Faults | None]:
    """The faults of a local GitHub, taken back at the end. A real one is not driven into its limits."""
    found = target.local.hub.faults if isinstance(target, LocalTarget) else None
    yield found
    if found:
        found.clear()


def check(seen: dict[str, Any], target: Target, caller: str) -> None:
    """What every client has to see."""
    assert seen["repository"] == target.repository
    assert seen["tree"]
    assert seen["head"] == seen["commit"]
    assert seen["files"] == ["contract.txt"]
    assert seen["draft"] is True
    assert seen.get("ready", True) is True
    assert seen.get("unchanged", True) is True
    assert seen["comments"] == ["Comment 0", "Comment 1", "Comment 2"]
    assert seen["status"] == "success"
    assert seen["left"] is True
    assert seen["labels"] is True
    assert target.real or seen.get("found", True) is True  # GitHub finds what is new only after a while
    if caller == "app":
        assert seen["app"]
        assert seen["checks"] == [["contract", "success"]]


@pytest.mark.parametrize("caller", ["app", "installation", "person"])
@pytest.mark.parametrize("program", LIMITS)
def test_a_client_reads_commits_talks_looks_at_checks_and_understands_a_limit(
    target: Target, faults: Faults | None, program: str, caller: str, tmp_path: Path
) -> None:
    skip_unless(target, caller)
    kind, limited = LIMITS[program]
    if faults:
        faults.add(kind, method="GET", path=LABELS, times=1, retry_after=1, seconds=1)
        if program.startswith("octokit"):
            faults.add("error", method="GET", path="/repos/*/branches", times=1, status=502)
    seen = flow(program, target, caller, tmp_path)
    check(seen, target, caller)
    if faults:
        assert seen.get("limited") == limited
        assert {rule.times for rule in faults.rules} == {0}
