"""Which checks a repository's pull requests usually get, as GitHub tells it."""

import base64

from github.checks.usual import usual_reporters
from github.client.repository import RepositoryHandle
from tests.github.conftest import Spot


async def opened(spot: Spot, branch: str, *contexts: str) -> str:
    """A pull request of Alice's whose head these statuses stand on."""
    base = (await spot.act("alice", "GET", "git/ref/heads/trunk"))["object"]["sha"]
    await spot.act("alice", "POST", "git/refs", ref=f"refs/heads/{branch}", sha=base)
    content = base64.b64encode(branch.encode()).decode()
    await spot.act("alice", "PUT", f"contents/{branch}.txt", message="m", content=content, branch=branch)
    pull = await spot.act("alice", "POST", "pulls", title=branch, head=branch, base="trunk")
    await say(spot, pull["head"]["sha"], *contexts)
    return str(pull["head"]["sha"])


async def say(spot: Spot, sha: str, *contexts: str) -> None:
    for context in contexts:
        await spot.act("alice", "POST", f"statuses/{sha}", state="success", context=context)


async def usual(repository: RepositoryHandle, earlier: str | None = None) -> set[str]:
    found = await usual_reporters(repository, branch="mine", base="trunk", earlier=earlier, own_app_id=1, max_age=0.0)
    return {each.name for each in found}


async def test_what_all_of_the_last_pull_requests_had_is_usual(spot: Spot, repository: RepositoryHandle) -> None:
    await opened(spot, "one", "ci/other", "once")
    await opened(spot, "two", "ci/other")
    assert await usual(repository) == {"ci/other"}


async def test_without_a_pull_request_the_base_branch_says_what_is_usual(
    spot: Spot, repository: RepositoryHandle
) -> None:
    assert await usual(repository) == set()
    await say(spot, (await spot.act("alice", "GET", "git/ref/heads/trunk"))["object"]["sha"], "ci/base")
    assert await usual(repository) == {"ci/base"}
    await opened(spot, "one")
    assert await usual(repository) == set()


async def test_a_former_head_of_the_same_branch_says_what_is_usual_and_one_that_is_gone_says_nothing(
    spot: Spot, repository: RepositoryHandle
) -> None:
    mine = await opened(spot, "mine", "ci/mine")
    assert await usual(repository) == set()
    assert await usual(repository, mine) == {"ci/mine"}
    assert await usual(repository, "0" * 39 + "1") == set()
