"""Files by path: read as JSON or raw, written as a commit."""

import base64
import binascii
import posixpath
from typing import Any
from urllib.parse import quote

from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, invalid, not_found, unprocessable
from github.emulator.git import refs, trees
from github.emulator.git.commits import Commit, Person, write
from github.emulator.git.refs import Update
from github.emulator.git.repository import EMPTY_TREE, ZERO, GitRepository, TreeEntry
from github.emulator.rest.code.refs import move
from github.emulator.views import commits as views
from github.emulator.views import repositories

CONTENTS = "/repos/{owner}/{repo}/contents/{path}"
MAX_JSON = 1_000_000


def _shown(call: Call, entry: TreeEntry, path: str, ref: str, listing: bool) -> dict[str, Any]:
    base, page = repositories.url(call.store, call.repository), f"{call.store.origins.web}/{call.repository.full_name}"
    where = quote(path)
    kind = {"tree": "dir", "commit": "submodule"}.get(entry.kind, "symlink" if entry.mode == "120000" else "file")
    if listing and kind == "submodule" and call.version == "2022-11-28":
        kind = "file"
    git_url = f"{base}/git/{'trees' if entry.kind == 'tree' else 'blobs'}/{entry.sha}"
    url, html = f"{base}/contents/{where}?ref={quote(ref)}", f"{page}/blob/{quote(ref)}/{where}"
    return {
        "name": path.rsplit("/", 1)[-1],
        "path": path,
        "sha": entry.sha,
        "size": entry.size or 0,
        "url": url,
        "html_url": html,
        "git_url": git_url,
        "download_url": f"{page}/raw/{quote(ref)}/{where}" if entry.kind == "blob" else None,
        "type": kind,
        "_links": {"self": url, "git": git_url, "html": html},
    }


def _followed(git: GitRepository, commit: str, link: TreeEntry, path: str) -> TreeEntry:
    """What a symbolic link leads to, if that is a file of the repository; else the link."""
    target = posixpath.normpath(posixpath.join(posixpath.dirname(path), git.read(link.sha).decode(errors="replace")))
    found = git.entry(commit, target) if not target.startswith(("/", "..")) else None
    return found if found is not None and found.kind == "blob" and found.mode != "120000" else link


def get(call: Call) -> Answer:
    repository, git = call.repository, call.repository.git
    path = call.params.get("path", "").strip("/")
    ref = call.query.get("ref") or repository.default_branch
    if git.empty:
        raise Refusal(404, "This repository is empty.")
    commit = git.resolve(ref)
    if commit is None:
        raise Refusal(404, f"No commit found for the ref {ref}")
    entry = git.entry(commit, path) if path else TreeEntry("040000", "tree", commit, None, "")
    if entry is None:
        raise not_found()
    accept = call.headers.get("accept", "")
    if entry.kind == "tree":
        rows = [_shown(call, row, f"{path}/{row.path}".lstrip("/"), ref, listing=True) for row in git.tree(entry.sha)]
        if "object" in accept:
            return Answer(200, _shown(call, entry, path, ref, listing=False) | {"entries": rows})
        return Answer(200, rows)
    if entry.mode == "120000":
        entry = _followed(git, commit, entry, path)
    data = git.read(entry.sha) if entry.kind == "blob" else b""
    if "raw" in accept:
        return Answer(200, data, media="application/vnd.github.raw; charset=utf-8")
    body = _shown(call, entry, path, ref, listing=False)
    if body["type"] == "symlink":
        return Answer(200, body | {"target": data.decode(errors="replace")})
    if body["type"] == "submodule":
        return Answer(200, body | {"submodule_git_url": None})
    if len(data) > MAX_JSON:
        return Answer(200, body | {"encoding": "none", "content": ""})
    return Answer(200, body | {"encoding": "base64", "content": base64.encodebytes(data).decode()})


def put(call: Call) -> Answer:
    """Create or replace one file on a branch."""
    repository, git = call.repository, call.repository.git
    path, message = call.params["path"], call.text("message", "Commit")
    try:
        data = base64.b64decode(call.text("content", "Commit"), validate=False)
    except (binascii.Error, ValueError):
        raise unprocessable("content is not valid Base64") from None
    branch, head = _branch(call)
    old = git.entry(head, path) if head else None
    if old is not None:
        _refuse_other_blob(call, path, old)
    try:
        tree = trees.build(git, [trees.Entry(path, old.mode if old else "100644", None, data)], head)
    except trees.BadTree as error:
        raise invalid("Commit", "path") from error
    made = _commit(call, tree, head, message)
    move(call, Update(head or ZERO, made.sha, f"refs/heads/{branch}"))
    entry = git.entry(made.sha, path)
    if entry is None:
        raise not_found()
    body = {
        "content": _shown(call, entry, path, branch, listing=False),
        "commit": views.git_commit(call.store, repository, made),
    }
    return Answer(200 if old else 201, body)


def delete(call: Call) -> Answer:
    """Delete one file of a branch. A client may send what it says in the query."""
    git, path = call.repository.git, call.params["path"]
    call.body = {**call.query, **(call.body or {})}
    message = call.text("message", "Commit")
    branch, head = _branch(call)
    old = git.entry(head, path) if head else None
    if head is None or old is None or old.kind != "blob":
        raise not_found()
    _refuse_other_blob(call, path, old)
    try:
        tree = trees.build(git, [trees.Entry(path, old.mode, None)], head)
    except trees.BadTree as error:
        raise invalid("Commit", "path") from error
    made = _commit(call, tree, head, message)
    move(call, Update(head, made.sha, f"refs/heads/{branch}"))
    return Answer(200, {"content": None, "commit": views.git_commit(call.store, call.repository, made)})


def _branch(call: Call) -> tuple[str, str | None]:
    """The branch to write, and its head: None in an empty repository."""
    name, git = call.get("branch") or call.repository.default_branch, call.repository.git
    head = refs.sha_of(git, f"refs/heads/{name}")
    if head is None and not git.empty:
        raise Refusal(404, f"Branch {name} not found")
    return name, head


def _refuse_other_blob(call: Call, path: str, there: TreeEntry) -> None:
    """Raise unless the caller names the blob that it replaces."""
    if call.get("sha") is None:
        raise Refusal(422, 'Invalid request.\n\n"sha" wasn\'t supplied.')
    if call.get("sha") != there.sha:
        raise Refusal(409, f"{path} does not match {call.get('sha')}")


def _commit(call: Call, tree: str, head: str | None, message: str) -> Commit:
    user, now = call.user, call.store.now().replace(microsecond=0)
    author = Person(user.name or user.login, user.email or user.noreply, now)
    custom = call.get("author") or call.get("committer")
    if isinstance(custom, dict) and custom.get("name") and custom.get("email"):
        author = Person(custom["name"], custom["email"], now)
    committer = author if custom else Person("GitHub", "noreply@github.com", now)
    commit = Commit("", tree or EMPTY_TREE, (head,) if head else (), author, committer, message)
    return write(call.repository.git, commit, None if custom else call.store.signer.sign)


ROUTES = [
    Route("GET", CONTENTS, get, "contents:read"),
    Route("GET", "/repos/{owner}/{repo}/contents", get, "contents:read"),
    Route("PUT", CONTENTS, put, "contents:write"),
    Route("DELETE", CONTENTS, delete, "contents:write"),
]
