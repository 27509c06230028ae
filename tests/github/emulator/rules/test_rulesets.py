"""Rulesets bind the branches that GitHub says, and refuse what breaks their rules."""

from typing import Any

import pytest

from github.emulator.rules.rulesets import fits_ref
from tests.github.emulator.house import REPO, House


@pytest.mark.parametrize(
    ("pattern", "ref", "fits"),
    [
        ("refs/heads/*", "refs/heads/main", True),
        ("refs/heads/*", "refs/heads/greenloop/1-x", False),
        ("refs/heads/**/*", "refs/heads/greenloop/1-x", True),
        ("refs/heads/**/*", "refs/heads/main", True),
        ("refs/heads/greenloop/**", "refs/heads/greenloop/1-x", True),
        ("refs/heads/greenloop/**", "refs/heads/greenloop/a/b", False),
        ("refs/heads/release-[0-9]", "refs/heads/release-7", True),
        ("refs/heads/release-[!0-9]", "refs/heads/release-7", False),
        ("refs/heads/v?", "refs/heads/v/", False),
        ("refs/heads/a.b", "refs/heads/axb", False),
    ],
)
def test_a_star_stops_at_a_slash(pattern: str, ref: str, fits: bool) -> None:
    assert fits_ref(pattern, ref) is fits


async def refused(house: House, token: str, branch: str, files: dict[str, str]) -> str:
    """What REST says to a branch with these files; empty where it is made."""
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    entries = [{"path": p, "mode": "100644", "type": "blob", "content": c} for p, c in files.items()]
    tree = (await house.ask("POST", f"{REPO}/git/trees", token, json={"base_tree": head, "tree": entries})).json()
    body = {"message": "m", "tree": tree["sha"], "parents": [head]}
    sha = (await house.ask("POST", f"{REPO}/git/commits", token, json=body)).json()["sha"]
    body = {"ref": f"refs/heads/{branch}", "sha": sha}
    answer = await house.ask("POST", f"{REPO}/git/refs", token, json=body)
    return "" if answer.is_success else str(answer.json()["message"])


@pytest.mark.parametrize(
    ("kind", "parameters", "words"),
    [
        ("file_path_restriction", {"restricted_file_paths": ["infra/**"]}, "Changes to infra/x.tf are restricted."),
        ("file_path_restriction", {"restricted_file_paths": ["*.tf"]}, ""),
        ("file_extension_restriction", {"restricted_file_extensions": ["*.TF"]}, "extension of infra/x.tf"),
        ("max_file_path_length", {"max_file_path_length": 9}, "infra/x.tf is longer than 9 characters."),
        ("max_file_size", {"max_file_size": 1}, "infra/x.tf is larger than 1 MB."),
        ("max_file_size", {"max_file_size": 2}, ""),
    ],
)
async def test_rules_about_files_are_held(house: House, kind: str, parameters: dict[str, Any], words: str) -> None:
    token = await house.token()
    house.local.add_ruleset("acme/widgets", "files", ["refs/heads/t*"], [{"type": kind, "parameters": parameters}])
    said = await refused(house, token, "topic", {"infra/x.tf": "x" * (1024 * 1024 + 1)})
    assert words in said if words else said == ""
    assert await refused(house, token, "other", {"infra/x.tf": "x" * (1024 * 1024 + 1)}) == ""


async def test_a_linear_history_takes_no_merge_commit(house: House) -> None:
    token = await house.token()
    house.local.add_ruleset("acme/widgets", "linear", ["refs/heads/topic"], [{"type": "required_linear_history"}])
    await house.commit(token, "topic", {"b.txt": "1\n"}, base="main")
    await house.commit(token, "other", {"c.txt": "1\n"}, base="main")
    answer = await house.ask("POST", f"{REPO}/merges", token, json={"base": "topic", "head": "other"})
    assert answer.status_code == 422 and "must not contain merge commits" in answer.text


async def test_a_commit_whose_required_checks_are_green_may_be_pushed(house: House) -> None:
    token = await house.token()
    wanted = {"required_status_checks": [{"context": "ci"}], "strict_required_status_checks_policy": False}
    rule = {"type": "required_status_checks", "parameters": wanted}
    ruleset = house.local.add_ruleset("acme/widgets", "main", ["~DEFAULT_BRANCH"], [rule])
    sha = await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    main = f"{REPO}/git/refs/heads/main"
    for state, status in ((None, 422), ("failure", 422), ("success", 200)):
        if state:
            body = {"state": state, "context": "ci"}
            await house.ask("POST", f"{REPO}/statuses/{sha}", house.carol, json=body)
        answer = await house.ask("PATCH", main, token, json={"sha": sha})
        assert answer.status_code == status, state
        assert status == 200 or 'Required status check "ci" is expected.' in answer.json()["message"]
    listed = (await house.ask("GET", f"{REPO}/rulesets", token)).json()
    assert [(row["id"], row["enforcement"]) for row in listed] == [(ruleset.id, "active")]


async def test_a_pull_request_that_has_what_its_base_requires_can_be_merged_and_closes_its_issue(house: House) -> None:
    token = await house.token()
    house.local.protect("acme/widgets", "main", contexts=["test"])
    issue = (await house.ask("POST", f"{REPO}/issues", token, json={"title": "t"})).json()["number"]
    await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    body = {"title": "t", "body": f"Fixes #{issue}", "head": "topic", "base": "main"}
    pull = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()["number"]
    await house.local.idle()
    assert (await house.ask("PUT", f"{REPO}/pulls/{pull}/merge", token, json={})).status_code == 200
    assert (await house.ask("GET", f"{REPO}/issues/{issue}", token)).json()["state"] == "closed"
