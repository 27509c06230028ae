"""Pull requests are merged in the way that is asked for, where the rules of their base allow it."""

from typing import Any

import pytest

from tests.github.emulator.house import REPO, House


@pytest.fixture
async def token(house: House) -> str:
    return await house.token()


async def pull(house: House, token: str, *names: str) -> int:
    """A pull request with a commit for each name, on a base that has moved on since."""
    for place, name in enumerate(names):
        await house.commit(token, "topic", {f"{name}.new": name}, base=None if place else "main")
    await house.commit(house.carol.token, "main", {"meanwhile.txt": "x"})
    body = {"title": "All of it", "head": "topic", "base": "main"}
    return int((await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()["number"])


async def merge(house: House, number: int, **body: Any) -> Any:
    return await house.ask("PUT", f"{REPO}/pulls/{number}/merge", house.carol, json=body)


async def main(house: House) -> list[Any]:
    return list((await house.ask("GET", f"{REPO}/commits?sha=main", house.carol)).json())


async def test_a_squash_is_one_commit_of_the_authors_with_all_their_words(house: House, token: str) -> None:
    before = (await main(house))[0]["sha"]
    number = await pull(house, token, "a", "b")
    tip = (await main(house))[0]["sha"]
    merged = (await merge(house, number, merge_method="squash")).json()
    made, *rest = await main(house)
    shown = (await house.ask("GET", f"{REPO}/pulls/{number}", house.carol)).json()
    commits = (await house.ask("GET", f"{REPO}/pulls/{number}/commits", house.carol)).json()
    title, _, body = made["commit"]["message"].partition("\n\n")
    assert (made["sha"], [each["sha"] for each in made["parents"]], rest[1]["sha"]) == (merged["sha"], [tip], before)
    assert title == f"All of it (#{number})"
    assert [line for line in body.split("\n") if line] == [f"* {each['commit']['message']}" for each in commits]
    assert (shown["merged"], shown["merge_commit_sha"], len(commits)) == (True, merged["sha"], 2)


async def test_a_squash_of_one_commit_keeps_its_words_and_ones_own_words_win(house: House, token: str) -> None:
    number = await pull(house, token, "a")
    (only,) = (await house.ask("GET", f"{REPO}/pulls/{number}/commits", house.carol)).json()
    await merge(house, number, merge_method="squash", commit_message="Because.")
    said = (await main(house))[0]["commit"]["message"]
    assert said == f"{only['commit']['message'].splitlines()[0]} (#{number})\n\nBecause."


async def test_a_rebase_is_its_commits_anew_by_who_merged_them(house: House, token: str) -> None:
    number = await pull(house, token, "a", "b")
    before = (await house.ask("GET", f"{REPO}/pulls/{number}/commits", house.carol)).json()
    tip = (await main(house))[0]["sha"]
    merged = (await merge(house, number, merge_method="rebase")).json()
    after = list(reversed((await main(house))[:2]))
    tree = (await house.ask("GET", f"{REPO}/git/trees/main", house.carol)).json()["tree"]
    assert [each["commit"]["message"] for each in after] == [each["commit"]["message"] for each in before]
    assert [each["commit"]["author"]["email"] for each in after] == [
        each["commit"]["author"]["email"] for each in before
    ]
    assert {each["commit"]["committer"]["name"] for each in after} == {house.carol.name or house.carol.login}
    assert (after[0]["parents"][0]["sha"], after[1]["sha"]) == (tip, merged["sha"])
    assert {"a.new", "b.new", "meanwhile.txt"} <= {each["path"] for each in tree}
    assert (await house.ask("GET", f"{REPO}/pulls/{number}", house.carol)).json()["merged"] is True


async def test_a_way_that_rules_or_reason_forbid_is_refused(house: House, token: str) -> None:
    number = await pull(house, token, "a")
    assert (await merge(house, number, merge_method="octopus")).status_code == 422
    house.local.add_ruleset("acme/widgets", "flat", ["refs/heads/main"], [{"type": "required_linear_history"}])
    refused = await merge(house, number)
    assert (refused.status_code, "must not contain merge commits" in refused.text) == (405, True)
    only = {"type": "pull_request", "parameters": {"allowed_merge_methods": ["rebase"]}}
    house.local.add_ruleset("acme/widgets", "rebased", ["refs/heads/main"], [only])
    refused = await merge(house, number, merge_method="squash")
    assert (refused.status_code, refused.json()["message"]) == (
        405,
        "Squash merges are not allowed on this repository.",
    )
    assert (await merge(house, number, merge_method="rebase")).status_code == 200
