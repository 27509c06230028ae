"""Git objects: blobs, trees and commits."""

import base64
import binascii
import re
from datetime import datetime
from typing import Any

from github.emulator.api.access import holds
from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.errors import Refusal, no_permission, not_found, unprocessable
from github.emulator.git import trees
from github.emulator.git.commits import Commit, Person, read, write
from github.emulator.git.repository import GitError
from github.emulator.rules.policy import WORKFLOWS
from github.emulator.views import commits as views
from github.emulator.views import repositories

GIT = "/repos/{owner}/{repo}/git"
SHA = re.compile(r"[0-9a-f]{40}")
MODES = {"100644": "blob", "100755": "blob", "040000": "tree", "160000": "commit", "120000": "blob"}
MAX_LISTED = 100_000


def refuse_empty(call: Call) -> None:
    """Git endpoints of a repository without any commit answer 409."""
    if call.repository.git.empty:
        raise Refusal(409, "Git Repository is empty.")


def create_blob(call: Call) -> Answer:
    refuse_empty(call)
    content, encoding = call.get("content"), call.get("encoding", "utf-8")
    if not isinstance(content, str):
        raise unprocessable('Invalid request.\n\n"content" wasn\'t supplied.')
    if encoding not in ("utf-8", "base64"):
        raise unprocessable("Invalid request.\n\nencoding must be one of utf-8, base64.")
    try:
        data = base64.b64decode(content) if encoding == "base64" else content.encode()
    except (binascii.Error, ValueError):
        raise unprocessable("content is not valid Base64") from None
    sha = call.repository.git.write("blob", data)
    url = f"{repositories.url(call.store, call.repository)}/git/blobs/{sha}"
    return Answer(201, {"sha": sha, "url": url}, {"location": url})


def blob(call: Call) -> Answer:
    git, sha = call.repository.git, call.params["file_sha"]
    if not SHA.fullmatch(sha) or git.kind(sha) != "blob":
        raise not_found()
    data = git.read(sha)
    if "raw" in call.headers.get("accept", ""):
        return Answer(200, data, media="application/vnd.github.raw; charset=utf-8")
    body = {
        "sha": sha,
        "node_id": views.git_node("B", call.repository, sha),
        "size": len(data),
        "url": f"{repositories.url(call.store, call.repository)}/git/blobs/{sha}",
        "content": base64.encodebytes(data).decode(),
        "encoding": "base64",
    }
    return Answer(200, body)


def create_tree(call: Call) -> Answer:
    refuse_empty(call)
    git, wanted, base = call.repository.git, call.get("tree"), call.get("base_tree")
    if not isinstance(wanted, list) or not wanted:
        raise unprocessable("Invalid tree info")
    if base is not None:
        # a commit is taken for its tree
        if not isinstance(base, str) or not SHA.fullmatch(base) or git.kind(base) not in ("tree", "commit"):
            raise unprocessable("base_tree is not a valid tree oid")
        base = git.text("rev-parse", f"{base}^{{tree}}")
    entries = [_entry(call, item) for item in wanted]
    if any(_writes_workflow(call, entry, base) for entry in entries):
        raise no_permission()
    try:
        sha = trees.build(git, entries, base)
    except trees.BadTree as error:
        raise unprocessable(str(error)) from error
    body = _tree(call, sha, recursive=False)
    return Answer(201, body, {"location": body["url"]})


def _entry(call: Call, item: Any) -> trees.Entry:
    if not isinstance(item, dict) or not isinstance(item.get("path"), str) or not item["path"]:
        raise unprocessable("tree.path can't be blank")
    path, mode, sha, content = item["path"], item.get("mode"), item.get("sha"), item.get("content")
    if path.startswith("/") or path.endswith("/"):
        raise unprocessable(
            "tree.path cannot start with a slash" if path[0] == "/" else "tree.path contains a malformed path component"
        )
    if any(part in ("", ".", "..") or part.lower() == ".git" for part in path.split("/")):
        raise unprocessable("tree.path contains a malformed path component")
    if "sha" in item and content is not None:
        raise unprocessable("Must supply either tree.sha or tree.content, but not both")
    if mode not in MODES:
        raise unprocessable(f"tree.mode Must be one of {', '.join(MODES)}")
    if content is not None:
        if not isinstance(content, str):
            raise unprocessable("tree.content must be a string")
        return trees.Entry(path, mode, None, content.encode())
    if "sha" not in item:
        raise unprocessable("Must supply either tree.sha or tree.content")
    if sha is None:
        return trees.Entry(path, mode, None)
    if not isinstance(sha, str) or not SHA.fullmatch(sha):
        raise unprocessable(f"tree.sha {sha} is not a valid {MODES[mode]}")
    if MODES[mode] != "commit" and call.repository.git.kind(sha) != MODES[mode]:
        raise unprocessable(f"tree.sha {sha} is not a valid {MODES[mode]}")
    return trees.Entry(path, mode, sha)


def _writes_workflow(call: Call, entry: trees.Entry, base: str | None) -> bool:
    """Whether an App without `workflows` puts a workflow file there that the base has not: refused at once."""
    if call.actor.token is None or holds(call.actor, "workflows", "write"):
        return False
    if not entry.path.startswith(WORKFLOWS) or (entry.sha is None and entry.content is None):
        return False
    old = call.repository.git.entry(base, entry.path) if base else None
    same = old is not None and (old.sha == entry.sha or call.repository.git.read(old.sha) == entry.content)
    return not same


def _tree(call: Call, sha: str, recursive: bool) -> dict[str, Any]:
    base = f"{repositories.url(call.store, call.repository)}/git"
    rows = call.repository.git.tree(sha, recursive)
    shown = []
    for row in rows[:MAX_LISTED]:
        path = row.path.encode(errors="surrogateescape").decode(errors="replace")
        item: dict[str, Any] = {"path": path, "mode": row.mode, "type": row.kind, "sha": row.sha}
        if row.size is not None:
            item["size"] = row.size
        if row.kind != "commit":
            item["url"] = f"{base}/{row.kind}s/{row.sha}"
        shown.append(item)
    return {"sha": sha, "url": f"{base}/trees/{sha}", "tree": shown, "truncated": len(rows) > MAX_LISTED}


def tree(call: Call) -> Answer:
    """By the sha of a tree or commit, or a ref's name."""
    refuse_empty(call)
    git, name = call.repository.git, call.params["tree_sha"]
    kind = git.kind(name) if SHA.fullmatch(name) else None
    start = name if kind in ("tree", "commit") else git.resolve(name)
    if start is None:
        raise not_found()
    return Answer(200, _tree(call, git.text("rev-parse", f"{start}^{{tree}}"), "recursive" in call.query))


def _person(call: Call, value: Any, fallback: Person) -> Person:
    if value is None:
        return fallback
    if not isinstance(value, dict) or not value.get("name") or not value.get("email"):
        raise unprocessable('Invalid request.\n\n"email", "name" weren\'t supplied.')
    try:
        date = datetime.fromisoformat(value["date"]) if value.get("date") else fallback.date
    except (TypeError, ValueError):
        raise unprocessable("Invalid request.\n\ndate is not a valid ISO 8601 timestamp.") from None
    return Person(value["name"], value["email"], date)


def create_commit(call: Call) -> Answer:
    """An installation's commit with no author, committer or signature of its own is signed by the web side."""
    refuse_empty(call)
    git, message, wanted = call.repository.git, call.get("message"), call.get("tree")
    parents = call.get("parents") or []
    if not isinstance(message, str):
        raise unprocessable('Invalid request.\n\n"message" wasn\'t supplied.')
    if not isinstance(wanted, str) or not SHA.fullmatch(wanted) or git.kind(wanted) != "tree":
        raise unprocessable("Tree SHA does not exist")
    if not isinstance(parents, list):
        raise unprocessable("Invalid request.\n\nparents is not an array.")
    for parent in parents:
        if not isinstance(parent, str) or not SHA.fullmatch(parent) or git.kind(parent) != "commit":
            raise unprocessable("Parent SHA does not exist or is not a commit object")
    now, user = call.store.now().replace(microsecond=0), call.user
    me = Person(user.login if user.type == "Bot" else user.name or user.login, user.email or user.noreply, now)
    author = _person(call, call.get("author"), me)
    signs = call.actor.kind == "installation" and not any(map(call.get, ("author", "committer", "signature")))
    web = Person("GitHub", "noreply@github.com", now)
    committer = _person(call, call.get("committer"), web if signs else author)
    commit = Commit("", wanted, tuple(parents), author, committer, message)
    made = write(git, commit, call.store.signer.sign if signs else None)
    body = views.git_commit(call.store, call.repository, made)
    return Answer(201, body, {"location": body["url"]})


def commit(call: Call) -> Answer:
    git, sha = call.repository.git, call.params["commit_sha"]
    if not SHA.fullmatch(sha) or git.kind(sha) != "commit":
        raise not_found()
    try:
        return Answer(200, views.git_commit(call.store, call.repository, read(git, sha)))
    except GitError as error:
        raise not_found() from error


ROUTES = [
    Route("POST", f"{GIT}/blobs", create_blob, "contents:write"),
    Route("GET", f"{GIT}/blobs/{{file_sha}}", blob, "contents:read"),
    Route("POST", f"{GIT}/trees", create_tree, "contents:write"),
    Route("GET", f"{GIT}/trees/{{tree_sha}}", tree, "contents:read"),
    Route("POST", f"{GIT}/commits", create_commit, "contents:write"),
    Route("GET", f"{GIT}/commits/{{commit_sha}}", commit, "contents:read"),
]
