"""Commits as history: listed, shown, compared, and the pull requests they are in."""

from typing import Any

from github.emulator.api.call import Answer, Call, Listing, diff_answer
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, not_found, unprocessable
from github.emulator.git import commits, diff
from github.emulator.git.repository import EMPTY_TREE
from github.emulator.rest.code.objects import SHA, refuse_empty
from github.emulator.store.repositories import Repository
from github.emulator.views import commits as views
from github.emulator.views import pulls, repositories

REPO = "/repos/{owner}/{repo}"
MAX_COMPARED = 250


def resolve(call: Call, name: str) -> str:
    """The commit of a sha, branch or tag. 422 for a sha nobody knows, 404 for another name, 409 when empty."""
    refuse_empty(call)
    sha = call.repository.git.resolve(name)
    if sha is None:
        raise unprocessable(f"No commit found for SHA: {name}") if SHA.fullmatch(name) else not_found()
    return sha


def listed(call: Call) -> Listing:
    start = resolve(call, call.query.get("sha") or call.repository.default_branch)
    git = call.repository.git
    path = ["--", call.query["path"]] if call.query.get("path") else []
    shas = git.text("rev-list", start, *path).split()

    def show(sha: str) -> Any:
        return views.commit(call.store, call.repository, commits.read(git, sha))

    return Listing(shas, show)


def get(call: Call) -> Answer:
    repository = call.repository
    sha = resolve(call, call.params["ref"])
    accept = call.headers.get("accept", "")
    row = commits.read(repository.git, sha)
    if "sha" in accept:
        return Answer(200, sha.encode(), media="application/vnd.github.sha; charset=utf-8")
    if "diff" in accept or "patch" in accept:
        return diff_answer(call, "Commit", row.parents[0] if row.parents else EMPTY_TREE, sha)
    return Answer(200, views.full_commit(call.store, repository, row))


def pulls_of(call: Call) -> Listing:
    """On the default branch: the merged pull requests that brought the commit; elsewhere also the open ones."""
    repository, git = call.repository, call.repository.git
    sha = resolve(call, call.params["commit_sha"])
    on_default = git.is_ancestor(sha, f"refs/heads/{repository.default_branch}")
    rows = []
    for pull in call.store.pulls_of(repository):
        inside = git.is_ancestor(sha, pull.head_sha) and not git.is_ancestor(sha, pulls.merge_base(pull))
        if (inside and (pull.merged_at or (pull.open and not on_default))) or (
            pull.merge_sha == sha and pull.merged_at
        ):
            rows.append(pull)
    return Listing(rows, lambda row: pulls.simple(call.store, row))


def _end(call: Call, name: str) -> tuple[Repository, str]:
    """One end of a comparison: `branch`, or `owner:branch` of a repository of the same network."""
    repository = call.repository
    owner, colon, branch = name.partition(":")
    if colon:
        network = [r for r in call.store.repositories if r.owner.login.lower() == owner.lower()]
        root = repository.parent or repository
        found = next((r for r in network if root in (r, r.parent)), None)
        if found is None:
            raise not_found()
        repository, name = found, branch
    sha = repository.git.resolve(name)
    if sha is None:
        raise not_found()
    if repository is not call.repository:
        call.repository.git.fetch_object(repository.git, sha)
    return repository, sha


def compare(call: Call) -> Answer:
    refuse_empty(call)
    repository, git = call.repository, call.repository.git
    base_name, dots, head_name = call.params["basehead"].partition("...")
    if not dots:
        raise not_found()
    (_, base), (_, head) = _end(call, base_name), _end(call, head_name)
    middle = git.merge_base(base, head)
    if middle is None:
        raise Refusal(404, f"No common ancestor between {base_name} and {head_name}.")
    if "diff" in call.headers.get("accept", ""):
        return diff_answer(call, "Comparison", middle, head)
    ahead, behind = git.count(f"{base}..{head}"), git.count(f"{head}..{base}")
    status = "diverged" if ahead and behind else "ahead" if ahead else "behind" if behind else "identical"
    page = f"{call.store.origins.web}/{repository.full_name}/compare"
    named = f"{base_name}...{head_name}"
    shas = git.shas(f"{base}..{head}", MAX_COMPARED)
    files = diff.changes(git, middle, head)[: views.MAX_FILES]

    def show(sha: str) -> Any:
        return views.commit(call.store, repository, commits.read(git, sha))

    body = {
        "url": f"{repositories.url(call.store, repository)}/compare/{named}",
        "html_url": f"{page}/{named}",
        "permalink_url": f"{page}/{base}...{head}",
        "diff_url": f"{page}/{named}.diff",
        "patch_url": f"{page}/{named}.patch",
        "base_commit": show(base),
        "merge_base_commit": show(middle),
        "status": status,
        "ahead_by": ahead,
        "behind_by": behind,
        "total_commits": ahead,
        "commits": [show(sha) for sha in shas],
        "files": [views.file(call.store, repository, change, head) for change in files],
    }
    return Answer(200, body)


ROUTES = [
    Route("GET", f"{REPO}/commits", listed, "contents:read"),
    Route("GET", f"{REPO}/commits/{{ref}}", get, "contents:read"),
    Route("GET", f"{REPO}/commits/{{commit_sha}}/pulls", pulls_of, "pull_requests:read"),
    Route("GET", f"{REPO}/compare/{{basehead}}", compare, "contents:read"),
]
