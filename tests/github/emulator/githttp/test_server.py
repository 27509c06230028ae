"""git itself talks to the local GitHub, and hears GitHub's words when it may not."""

import pytest

from tests.github.emulator.house import REPO, House


def clone(house: House, token: str) -> None:
    done = house.git("clone", "--quiet", house.clone_url(token), "w")
    assert done.returncode == 0, done.stderr


def push(house: House, branch: str, path: str = "new.txt") -> str:
    """Commit a file on a new branch and push it; what git said, empty if all went well."""
    work = house.folder / "w"
    house.git("checkout", "--quiet", "-B", branch, cwd=work)
    (work / path).parent.mkdir(parents=True, exist_ok=True)
    (work / path).write_text("x\n")
    house.git("add", ".", cwd=work)
    house.git("commit", "--quiet", "-m", "Add a file", cwd=work)
    done = house.git("push", "origin", branch, cwd=work)
    return "" if done.returncode == 0 else done.stderr


async def test_a_push_moves_the_pull_request_and_is_told(house: House) -> None:
    token = await house.token()
    await house.commit(token, "topic", {"b.txt": "1"}, base="main")
    made = await house.ask("POST", f"{REPO}/pulls", token, json={"title": "t", "head": "topic", "base": "main"})
    before = made.json()["head"]["sha"]
    clone(house, house.carol.token)
    house.git("checkout", "--quiet", "topic", cwd=house.folder / "w")
    assert push(house, "topic") == ""
    after = (await house.ask("GET", f"{REPO}/pulls/1", token)).json()
    assert after["head"]["sha"] != before and after["commits"] == 2
    assert "pull-request-synchronize" in house.watch.events
    fetched = house.git("ls-remote", "origin", "refs/pull/1/head", cwd=house.folder / "w")
    assert fetched.stdout.startswith(after["head"]["sha"])


async def test_who_may_not_write_is_told_so_and_who_may_not_see_finds_nothing(house: House) -> None:
    clone(house, house.bob.token)
    assert "Permission to acme/widgets.git denied to bob." in push(house, "b1")
    stranger = house.local.add_user("stranger")
    for token, words in ((stranger.token, "Repository not found."), ("ghp_wrong", "Invalid username or token")):
        done = house.git("clone", house.clone_url(token), "x")
        assert done.returncode != 0 and words in done.stderr
    reader = await house.token(permissions={"contents": "read"})
    assert house.git("ls-remote", house.clone_url(reader)).returncode == 0
    none = await house.token(permissions={"issues": "read"})
    assert house.git("ls-remote", house.clone_url(none)).returncode != 0


async def test_an_app_without_workflows_cannot_push_a_workflow(house: House) -> None:
    clone(house, await house.token())
    said = push(house, "wf", ".github/workflows/new.yml")
    assert (
        "! [remote rejected] wf -> wf (refusing to allow a GitHub App to create or update workflow"
        " `.github/workflows/new.yml` without `workflows` permission)" in said
    )


async def test_protected_branches_refuse_by_git_and_by_rest(house: House) -> None:
    token = await house.token()
    house.local.protect("acme/widgets", "main", contexts=["test"])
    clone(house, token)
    said = push(house, "main")
    assert "GH006: Protected branch update failed for refs/heads/main." in said
    assert "(protected branch hook declined)" in said
    body = {"message": "m", "content": "eA==", "branch": "main"}
    refused = await house.ask("PUT", f"{REPO}/contents/x", token, json=body)
    assert refused.status_code == 422
    shown = (await house.ask("GET", f"{REPO}/branches/main", token)).json()
    assert shown["protected"] and shown["protection"]["required_status_checks"]["contexts"] == ["test"]


@pytest.mark.parametrize(
    ("rule", "words"),
    [
        ({"type": "creation"}, "Cannot create ref due to creations being restricted."),
        ({"type": "required_signatures"}, "Commits must have verified signatures."),
        (
            {"type": "branch_name_pattern", "parameters": {"operator": "starts_with", "pattern": "ok/"}},
            "Branch name must start with the pattern: ok/",
        ),
    ],
)
async def test_rulesets_refuse_in_their_own_words(house: House, rule: dict[str, object], words: str) -> None:
    token = await house.token()
    house.local.add_ruleset("acme/widgets", "all", ["~ALL"], [rule], exclude=["refs/heads/main"])
    clone(house, token)
    said = push(house, "topic")
    assert "GH013: Repository rule violations found for refs/heads/topic." in said and words in said
    assert "(push declined due to repository rule violations)" in said
    rules = (await house.ask("GET", f"{REPO}/rules/branches/topic", token)).json()
    assert [row["type"] for row in rules] == [rule["type"]]


async def test_a_signed_commit_can_be_checked_by_git(house: House) -> None:
    token = await house.token()
    sha = await house.commit(token, "topic", {"b.txt": "1"}, base="main")
    shown = (await house.ask("GET", f"{REPO}/git/commits/{sha}", token)).json()
    assert shown["verification"]["verified"] and shown["author"]["name"] == "greenloop[bot]"
    clone(house, token)
    signers = house.folder / "signers"
    signers.write_text(f"noreply@github.com {house.local.store.signer.public_key}\n")
    done = house.git("-c", f"gpg.ssh.allowedSignersFile={signers}", "verify-commit", sha, cwd=house.folder / "w")
    assert 'Good "git" signature' in done.stderr + done.stdout
    body = {"message": "m", "tree": shown["tree"]["sha"], "parents": [sha], "author": {"name": "A", "email": "a@b.c"}}
    custom = (await house.ask("POST", f"{REPO}/git/commits", token, json=body)).json()
    assert custom["verification"]["reason"] == "unsigned"


async def test_trees_of_the_api_are_what_git_makes(house: House) -> None:
    token = await house.token()
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    blob = await house.ask("POST", f"{REPO}/git/blobs", token, json={"content": "AAH/", "encoding": "base64"})
    entries = [
        {"path": "bin/žluť 🦊", "mode": "100755", "type": "blob", "sha": blob.json()["sha"]},
        {"path": "link", "mode": "120000", "type": "blob", "content": "a.txt"},
        {"path": ".github", "mode": "040000", "type": "tree", "sha": None},
        {"path": "a.txt", "mode": "100644", "type": "blob", "sha": None},
        {"path": "a.txt/below", "mode": "100644", "type": "blob", "content": "x\r\n"},
    ]
    made = await house.ask("POST", f"{REPO}/git/trees", token, json={"base_tree": head, "tree": entries})
    assert made.status_code == 201, made.text
    work = house.folder / "byhand"
    (work / "bin").mkdir(parents=True)
    (work / "bin/žluť 🦊").write_bytes(b"\x00\x01\xff")
    (work / "bin/žluť 🦊").chmod(0o755)
    (work / "link").symlink_to("a.txt")
    (work / "a.txt").mkdir()
    (work / "a.txt/below").write_bytes(b"x\r\n")
    house.git("init", "--quiet", cwd=work)
    house.git("add", ".", cwd=work)
    assert made.json()["sha"] == house.git("write-tree", cwd=work).stdout.strip()
    bad = [{"path": "../up", "mode": "100644", "type": "blob", "content": "x"}]
    assert (await house.ask("POST", f"{REPO}/git/trees", token, json={"tree": bad})).status_code == 422
    ghost = [{"path": "g", "mode": "100644", "type": "blob", "sha": "1" * 40}]
    assert (await house.ask("POST", f"{REPO}/git/trees", token, json={"tree": ghost})).status_code == 422


@pytest.mark.parametrize(
    ("ref", "text"),
    [
        ("heads/x", "must start with 'refs/'"),
        ("refs/heads/a..b", "Reference name is not valid."),
        (f"refs/heads/{'a' * 40}", "Reference name is not valid."),
        ("refs/heads/main", "Reference already exists"),
        ("refs/heads/main/below", "Reference update failed"),
    ],
)
async def test_refs_that_cannot_be_are_refused(house: House, ref: str, text: str) -> None:
    token = await house.token()
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    answer = await house.ask("POST", f"{REPO}/git/refs", token, json={"ref": ref, "sha": head})
    assert answer.status_code == 422 and text in answer.json()["message"]


async def test_a_ref_moves_only_forward_unless_forced(house: House) -> None:
    token = await house.token()
    old = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    await house.commit(token, "main", {"b.txt": "1"})
    path = f"{REPO}/git/refs/heads/main"
    back = await house.ask("PATCH", path, token, json={"sha": old})
    assert (back.status_code, back.json()["message"]) == (422, "Update is not a fast forward")
    assert (await house.ask("PATCH", path, token, json={"sha": old, "force": True})).status_code == 200
    house.local.add_repository("acme/empty")
    house.installation.selected = None
    everywhere = await house.token()
    assert (await house.ask("GET", "/repos/acme/empty/git/ref/heads/main", everywhere)).status_code == 409
