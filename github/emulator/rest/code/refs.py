"""Refs: read, created, moved forward, deleted; and merging one branch into another."""

from typing import Any

from github.emulator.acts import pushes
from github.emulator.api.call import Answer, Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, not_found, unprocessable
from github.emulator.git import refs
from github.emulator.git.commits import Commit, Person, read, write
from github.emulator.git.refs import Update
from github.emulator.git.repository import ZERO, GitError
from github.emulator.rest.code.objects import GIT, SHA, refuse_empty
from github.emulator.rules import policy
from github.emulator.views import commits as views


def get(call: Call) -> Answer:
    """Only the ref of exactly that name."""
    refuse_empty(call)
    name = f"refs/{call.params['ref']}"
    sha = refs.sha_of(call.repository.git, name)
    if sha is None or call.ref_lags("ref", call.repository, name):
        raise not_found()
    return Answer(200, views.ref(call.store, call.repository, name, sha))


def matching(call: Call) -> Listing:
    """Every ref whose name starts so."""
    refuse_empty(call)
    found = refs.all_refs(call.repository.git, f"refs/{call.params['ref']}")
    return Listing(list(found.items()), lambda item: views.ref(call.store, call.repository, *item))


def _sha(call: Call) -> str:
    sha = call.get("sha")
    if not isinstance(sha, str):
        raise unprocessable('Invalid request.\n\n"sha" wasn\'t supplied.')
    if not SHA.fullmatch(sha):
        raise unprocessable("The sha parameter must be exactly 40 characters and contain only [0-9a-f].")
    return sha


def move(call: Call, update: Update) -> None:
    """Move a ref as the caller, if no rule refuses it, and tell everybody."""
    git = call.repository.git
    written = read(git, update.new).committer.date if git.kind(update.new) == "commit" else None
    if call.lags("ref_update", (call.repository.id, update), written):
        raise unprocessable("Reference update failed")
    refused = policy.check(call.store, call.repository, call.actor, update)
    if refused is not None:
        raise Refusal(refused.status, refused.api or refused.reason)
    try:
        if update.new == ZERO:
            refs.delete(git, update.ref)
        else:
            refs.move(git, update.ref, update.new, update.old)
    except GitError as error:
        raise unprocessable("Reference update failed") from error
    pushes.pushed(call.forge, call.repository, update, call.user)


def create(call: Call) -> Answer:
    refuse_empty(call)
    git, name, sha = call.repository.git, call.get("ref"), _sha(call)
    if not isinstance(name, str) or not name.startswith("refs/") or name.count("/") < 2:
        raise unprocessable("Reference name must start with 'refs/' and have at least two slashes.")
    if not refs.valid(name, git):
        raise unprocessable("Reference name is not valid.")
    kind = git.kind(sha)
    if kind is None or (name.startswith("refs/heads/") and kind != "commit"):
        raise unprocessable("Object does not exist")
    if refs.sha_of(git, name) is not None:
        raise unprocessable("Reference already exists")
    if refs.blocked_by(git, name):
        raise unprocessable("Reference update failed")
    move(call, Update(ZERO, sha, name))
    body = views.ref(call.store, call.repository, name, sha)
    return Answer(201, body, {"location": body["url"]})


def update(call: Call) -> Answer:
    """Without `force` only forward."""
    refuse_empty(call)
    git, name, sha = call.repository.git, f"refs/{call.params['ref']}", _sha(call)
    old = refs.sha_of(git, name)
    if old is None:
        raise unprocessable("Reference does not exist")
    if git.kind(sha) is None:
        raise unprocessable("Object does not exist")
    if call.get("force") is not True and not git.is_ancestor(old, sha):
        raise unprocessable("Update is not a fast forward")
    if old != sha:
        move(call, Update(old, sha, name))
    return Answer(200, views.ref(call.store, call.repository, name, sha))


def delete(call: Call) -> Answer:
    refuse_empty(call)
    name = f"refs/{call.params['ref']}"
    old = refs.sha_of(call.repository.git, name)
    if old is None:
        raise unprocessable("Reference does not exist")
    move(call, Update(old, ZERO, name))
    return Answer(204, empty=True)


def merge(call: Call) -> Answer:
    """Merge `head` into the branch `base`: 201 with the commit, 204 when there is nothing to do, 409 on conflict."""
    git, base, head = call.repository.git, call.get("base"), call.get("head")
    ours = refs.sha_of(git, f"refs/heads/{base}") if isinstance(base, str) else None
    theirs = git.resolve(head) if isinstance(head, str) else None
    if ours is None or theirs is None:
        raise Refusal(404, "Base does not exist" if ours is None else "Head does not exist")
    if git.is_ancestor(theirs, ours):
        return Answer(204, empty=True)
    made = merge_commit(call, ours, theirs, call.get("commit_message") or f"Merge {head} into {base}")
    if made is None:
        raise Refusal(409, "Merge conflict")
    move(call, Update(ours, made.sha, f"refs/heads/{base}"))
    return Answer(201, views.full_commit(call.store, call.repository, made))


def merge_commit(call: Call, ours: str, theirs: str, message: str) -> Commit | None:
    """A signed merge by the caller, or None when the two conflict."""
    git, user = call.repository.git, call.user
    tree = git.merge_tree(ours, theirs)
    if tree is None:
        return None
    now: Any = call.store.now().replace(microsecond=0)
    author = Person(user.name or user.login, user.email or user.noreply, now)
    commit = Commit("", tree, (ours, theirs), author, Person("GitHub", "noreply@github.com", now), message)
    return write(git, commit, call.store.signer.sign)


ROUTES = [
    Route("GET", f"{GIT}/ref/{{ref}}", get, "contents:read"),
    Route("GET", f"{GIT}/matching-refs/{{ref}}", matching, "contents:read"),
    Route("POST", f"{GIT}/refs", create, "contents:write"),
    Route("PATCH", f"{GIT}/refs/{{ref}}", update, "contents:write"),
    Route("DELETE", f"{GIT}/refs/{{ref}}", delete, "contents:write"),
    Route("POST", "/repos/{owner}/{repo}/merges", merge, "contents:write"),
]
