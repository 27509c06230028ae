"""Pull requests: from forks, reviewed, conflicting, and brought up to date."""

import base64
from typing import Any

from github.emulator.store.users import User
from tests.github.emulator.house import REPO, House


async def put(house: House, who: User, repository: str, path: str, text: str, branch: str) -> str:
    known = await house.ask("GET", f"/repos/{repository}/contents/{path}", who, params={"ref": branch})
    body: dict[str, Any] = {"message": f"Change {path}", "content": base64.b64encode(text.encode()).decode()}
    body |= {"branch": branch} | ({"sha": known.json()["sha"]} if known.is_success else {})
    answer = await house.ask("PUT", f"/repos/{repository}/contents/{path}", who, json=body)
    assert answer.is_success, answer.text
    return str(answer.json()["commit"]["sha"])


async def test_a_fork_is_one_per_person_and_its_pull_request_is_fetched_from_the_base(house: House) -> None:
    forks = [(await house.ask("POST", f"{REPO}/forks", house.bob, json={})).json() for _ in range(2)]
    assert [each["full_name"] for each in forks] == ["bob/widgets"] * 2
    assert (forks[0]["fork"], forks[0]["parent"]["full_name"]) == (True, "acme/widgets")
    sha = await put(house, house.bob, "bob/widgets", "new.txt", "x", "main")
    body = {"title": "From a fork", "head": "bob:main", "base": "main", "maintainer_can_modify": False}
    made = (await house.ask("POST", f"{REPO}/pulls", house.bob, json=body)).json()
    assert (made["head"]["repo"]["full_name"], made["head"]["label"], made["head"]["sha"]) == (
        "bob/widgets",
        "bob:main",
        sha,
    )
    token = await house.token(permissions={"contents": "read"})
    listed = house.git("ls-remote", house.clone_url(token), f"refs/pull/{made['number']}/head")
    assert listed.stdout.split() == [sha, f"refs/pull/{made['number']}/head"]
    assert house.git("push", house.clone_url(token), f"{sha}:refs/heads/x").returncode != 0
    again = await put(house, house.bob, "bob/widgets", "new.txt", "y", "main")
    found = (await house.ask("GET", f"{REPO}/pulls/{made['number']}", house.carol)).json()
    assert found["head"]["sha"] == again
    house.local.call(lambda: None)
    deleted = house.local.repository("bob/widgets")
    from github.emulator.acts import repositories

    house.local.call(lambda: repositories.deleted(house.local.hub.forge, deleted, house.bob))
    orphan = (await house.ask("GET", f"{REPO}/pulls/{made['number']}", house.carol)).json()
    assert (orphan["head"]["repo"], orphan["head"]["sha"]) == (None, again)


async def test_reviews_have_their_state_and_nobody_approves_their_own(house: House) -> None:
    token = await house.token()
    await house.commit(token, "topic", {"a.txt": "one\n2\nthree\n"}, base="main")
    made = (
        await house.ask("POST", f"{REPO}/pulls", token, json={"title": "T", "head": "topic", "base": "main"})
    ).json()
    path = f"{REPO}/pulls/{made['number']}/reviews"
    own = await house.ask("POST", path, token, json={"event": "APPROVE"})
    assert own.status_code == 422 and "own pull request" in own.text
    for event, state in (("REQUEST_CHANGES", "CHANGES_REQUESTED"), ("APPROVE", "APPROVED"), ("COMMENT", "COMMENTED")):
        answer = await house.ask("POST", path, house.carol, json={"event": event, "body": "x"})
        assert (answer.status_code, answer.json()["state"]) == (200, state)
    nowhere = {"event": "COMMENT", "body": "x", "comments": [{"path": "a.txt", "line": 99, "body": "y"}]}
    assert (await house.ask("POST", path, house.carol, json=nowhere)).status_code == 422
    (first, *_) = (await house.ask("GET", path, token)).json()
    gone = await house.ask("PUT", f"{path}/{first['id']}/dismissals", house.carol, json={"message": "settled"})
    assert gone.json()["state"] == "DISMISSED"


async def test_a_conflict_shows_and_a_branch_behind_is_brought_up_to_date(house: House) -> None:
    token = await house.token()
    for branch, text in (("same", "one\n2\nthree\n"), ("other", "one\ntwo\nthree\nfour\n")):
        await house.commit(token, branch, {"a.txt" if branch == "same" else "b.txt": text}, base="main")
    pulls = {}
    for branch in ("same", "other"):
        body = {"title": branch, "head": branch, "base": "main"}
        pulls[branch] = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()["number"]
    await put(house, house.alice, "acme/widgets", "a.txt", "one\nzwei\nthree\n", "main")
    found: dict[str, Any] = {}
    for branch, number in pulls.items():
        for _ in range(50):
            found[branch] = (await house.ask("GET", f"{REPO}/pulls/{number}", token)).json()
            if found[branch]["mergeable"] is not None:
                break
    assert (found["same"]["mergeable"], found["same"]["mergeable_state"]) == (False, "dirty")
    assert found["other"]["mergeable"] is True
    path = f"{REPO}/pulls/{pulls['other']}/update-branch"
    wrong = await house.ask("PUT", path, token, json={"expected_head_sha": "0" * 40})
    assert wrong.status_code == 422
    assert (await house.ask("PUT", path, token, json={})).status_code == 202
    await house.local.idle()
    compared = (await house.ask("GET", f"{REPO}/compare/main...other", token)).json()
    assert compared["behind_by"] == 0
