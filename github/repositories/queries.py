"""Facts about a repository, its branches, files and pull requests, as plain values."""

import base64
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, cast

from github.client.errors import EmptyRepository, Invalid, NotFound, UnreadableAnswer
from github.client.repository import RepositoryHandle, quoted
from github.repositories.config import PATH, Loaded, RepositoryConfig, load
from github.repositories.yamltext import Problem

WORKFLOWS_FOLDER = ".github/workflows"
UNCHANGING = 3600.0  # seconds; what a commit holds never changes
STEP = 5.0  # seconds; what one step asks twice is asked of GitHub once
SOON = 60.0  # seconds for which GitHub itself lets an answer be kept (its `Cache-Control`)
FACTS, HEAD, PULL, SETTINGS, COMMENTS = "facts", "head", "pull", "settings", "comments"
"""What a query tells of a repository now (`github.client.told`): a head by its branch, a pull request and the comments
of a thread by their numbers; of settings only that there are none."""
TREE, NAMES, WORKFLOWS, BLOB = "tree", "names", "workflows", "blob"
"""And for good: of a commit its tree, the names at the root of that, and its workflow files with the ids of their
blobs; of a blob its content."""
_SHA = re.compile(r"[0-9a-f]{40}\Z")


@dataclass(frozen=True, slots=True)
class Facts:
    """A repository as it is now."""

    id: int
    full_name: str
    default_branch: str
    private: bool
    archived: bool
    disabled: bool
    fork: bool
    owner_id: int


@dataclass(frozen=True, slots=True)
class Branch:
    """A branch and its head. `protected` is also said of a branch for which only a ruleset has a rule; `classic` is
    protection of the branch itself, and `required` the checks that it requires, with app ids (0: any)."""

    name: str
    sha: str
    tree: str
    protected: bool
    classic: bool
    required: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Pull:
    """A pull request. `mergeable` is None while GitHub computes it; `head_repository_id` 0 for a deleted fork."""

    number: int
    node_id: str
    url: str
    title: str
    body: str
    state: str
    draft: bool
    merged: bool
    mergeable: bool | None
    mergeable_state: str
    author: str
    author_id: int
    head_ref: str
    head_sha: str
    head_repository_id: int
    head_full_name: str
    base_ref: str
    base_sha: str
    base_repository_id: int
    labels: tuple[str, ...]
    maintainer_can_modify: bool

    @property
    def from_fork(self) -> bool:
        """Whether its head is not in the repository that it is for."""
        return self.head_repository_id != self.base_repository_id


async def facts(repository: RepositoryHandle, *, max_age: float = 0.0) -> Facts:
    """What the repository is like, or was within the last `max_age` seconds. Raises NotFound."""
    if (told := repository.app.told.get(repository.id, FACTS, "", max_age)) is not None:
        return cast(Facts, told[0])
    found = await repository.get("", max_age=max_age)
    repository.app.names.put(repository.id, str(found["full_name"]))
    return Facts(
        id=int(found["id"]),
        full_name=str(found["full_name"]),
        default_branch=str(found.get("default_branch") or ""),
        private=bool(found.get("private")),
        archived=bool(found.get("archived")),
        disabled=bool(found.get("disabled")),
        fork=bool(found.get("fork")),
        owner_id=int((found.get("owner") or {}).get("id") or 0),
    )


async def branch(repository: RepositoryHandle, name: str, *, max_age: float = 0.0) -> Branch | None:
    """The branch `name` and its head commit, or None; as it was within the last `max_age` seconds."""
    try:
        found = await repository.get(f"branches/{quoted(name)}", max_age=max_age)
    except NotFound:
        return None
    commit = found.get("commit") or {}
    checks = (found.get("protection") or {}).get("required_status_checks") or {}
    required = {(str(check.get("context")), int(check.get("app_id") or 0)) for check in checks.get("checks") or ()}
    listed = {name for name, _ in required}
    required |= {(str(context), 0) for context in checks.get("contexts") or () if context not in listed}
    if checks.get("enforcement_level") == "off":
        required = set()
    return Branch(
        name=str(found.get("name") or name),
        sha=str(commit["sha"]),
        tree=str(((commit.get("commit") or {}).get("tree") or {}).get("sha") or ""),
        protected=bool(found.get("protected")),
        classic=bool((found.get("protection") or {}).get("enabled", found.get("protected"))),
        required=tuple(sorted(required)),
    )


async def head(repository: RepositoryHandle, name: str, *, max_age: float = 0.0) -> str | None:
    """The SHA at the tip of the branch `name`, read from the ref itself; None if there is no such branch. What GitHub
    said within the last `max_age` seconds will do."""
    if (told := repository.app.told.get(repository.id, HEAD, name, max_age)) is not None:
        return cast(str | None, told[0])
    try:
        found = await repository.get(f"git/ref/heads/{quoted(name)}", max_age=max_age)
    except (NotFound, EmptyRepository):
        return None
    if isinstance(found, list):  # GitHub Enterprise Server before 3.0 answers with prefix matches
        return None
    return str(found["object"]["sha"])


async def is_empty(repository: RepositoryHandle) -> bool:
    """Whether the repository has no commit yet."""
    try:
        return not await repository.get("commits", params={"per_page": 1})
    except EmptyRepository:
        return True


async def file_at(repository: RepositoryHandle, path: str, ref: str | None) -> bytes | None:
    """The content of the file `path` at `ref` (branch or SHA; None: the default branch, whatever it is called now), or
    None. GitHub follows links inside the repository.

    Raises UnreadableAnswer for more than 1 MB, which is the API's limit, and where something else than a file is.
    """
    lasting = UNCHANGING if ref and _SHA.match(ref) else 0.0
    names = repository.app.told.get(repository.id, NAMES, ref or "", lasting)
    if names is not None and path.partition("/")[0] not in names[0]:
        return None
    try:
        params = {"ref": ref} if ref else None
        found = await repository.get(f"contents/{quoted(path)}", params=params, max_age=lasting)
    except (NotFound, EmptyRepository):
        return None
    where = ref or "the default branch"
    kind = str(found.get("type")) if isinstance(found, dict) else "directory"
    if kind != "file":
        raise UnreadableAnswer(f"{path} at {where} is a {kind}, and no file")
    if found.get("encoding") != "base64":
        raise UnreadableAnswer(f"{path} at {where} is too large for the contents API ({found.get('size')} bytes)")
    return base64.b64decode(found.get("content") or "")


async def settings(repository: RepositoryHandle, *, max_age: float = 0.0) -> Loaded:
    """The repository's `.github/greenloop.yml`, from its default branch only. That there was none within the last
    `max_age` seconds will do."""
    if repository.app.told.get(repository.id, SETTINGS, "", max_age) is not None:
        return load(None)
    try:
        return load(await file_at(repository, PATH, None))
    except UnreadableAnswer as error:
        return Loaded(RepositoryConfig(), (Problem(1, 1, "", str(error)),))


async def pull(repository: RepositoryHandle, number: int, *, max_age: float = 0.0) -> Pull:
    """A pull request, as it was within the last `max_age` seconds. Raises NotFound."""
    if (told := repository.app.told.get(repository.id, PULL, str(number), max_age)) is not None:
        return cast(Pull, told[0])
    return read_pull(await repository.get(f"pulls/{number}", max_age=max_age))


async def issue(repository: RepositoryHandle, number: int) -> dict[str, Any]:
    """An issue as GitHub gives it. Raises NotFound, or Gone for a deleted one."""
    found: dict[str, Any] = await repository.get(f"issues/{number}")
    return found


async def pulls_of_branch(repository: RepositoryHandle, name: str, *, state: str = "open") -> list[Pull]:
    """The pull requests from our own branch `name`, newest first. Forks with a branch of that name do not count."""
    owner = (await repository.full_name()).split("/")[0]
    params = {"head": f"{owner}:{name}", "state": state}
    found = [read_pull(each) async for each in repository.pages("pulls", params=params, limit=100)]
    return [each for each in found if each.head_ref == name and each.head_repository_id == repository.id]


async def pulls_of_commit(repository: RepositoryHandle, sha: str) -> list[Pull]:
    """The pull requests that hold the commit `sha` and are for this repository: works for forks, whose events do not
    name them."""
    try:
        found = [read_pull(each) async for each in repository.pages(f"commits/{sha}/pulls", limit=100)]
    except (NotFound, Invalid):
        return []
    return [each for each in found if each.base_repository_id == repository.id]


async def compare(repository: RepositoryHandle, base: str, head: str) -> dict[str, Any]:
    """GitHub's comparison `base...head`: status (ahead, behind, diverged, identical), ahead_by, behind_by,
    merge_base_commit, commits (at most 250) and files (at most 300)."""
    found: dict[str, Any] = await repository.get(f"compare/{quoted(base)}...{quoted(head)}")
    return found


async def is_before(repository: RepositoryHandle, commit: str, other: str) -> bool:
    """Whether `other` holds `commit` and more: it was the tip before."""
    return (await compare(repository, commit, other)).get("status") == "ahead"


async def subjects(repository: RepositoryHandle, ref: str, most: int) -> list[str]:
    """The first lines of the newest commits' messages at `ref`, newest first, as they were within the last hour."""
    try:
        params: dict[str, str | int] = {"sha": ref, "per_page": most}
        found = await repository.get("commits", params=params, max_age=UNCHANGING)
    except (NotFound, EmptyRepository):
        return []
    messages = (str((each.get("commit") or {}).get("message") or "") for each in found)
    return [message.partition("\n")[0] for message in messages]


async def diff(repository: RepositoryHandle, base: str, head: str) -> str:
    """The unified diff of `base...head`: what `head` has changed since it left `base`.

    Raises GitHubError where there is none to be had: GitHub answers 406 for more than 20,000 lines or 300 files.
    """
    path = f"compare/{quoted(base)}...{quoted(head)}"
    answer = await repository.request("GET", path, accept="application/vnd.github.diff")
    return answer.body.decode("utf-8", "replace")


def read_pull(found: Mapping[str, Any]) -> Pull:
    """A pull request from a REST answer, whole or as in lists."""
    top, base = found.get("head") or {}, found.get("base") or {}
    top_repo, base_repo = top.get("repo") or {}, base.get("repo") or {}
    author = found.get("user") or {}
    return Pull(
        number=int(found["number"]),
        node_id=str(found.get("node_id") or ""),
        url=str(found.get("html_url") or ""),
        title=str(found.get("title") or ""),
        body=str(found.get("body") or ""),
        state=str(found.get("state") or ""),
        draft=bool(found.get("draft")),
        merged=bool(found.get("merged") or found.get("merged_at")),
        mergeable=found.get("mergeable"),
        mergeable_state=str(found.get("mergeable_state") or "unknown"),
        author=str(author.get("login") or ""),
        author_id=int(author.get("id") or 0),
        head_ref=str(top.get("ref") or ""),
        head_sha=str(top.get("sha") or ""),
        head_repository_id=int(top_repo.get("id") or 0),
        head_full_name=str(top_repo.get("full_name") or ""),
        base_ref=str(base.get("ref") or ""),
        base_sha=str(base.get("sha") or ""),
        base_repository_id=int(base_repo.get("id") or 0),
        labels=tuple(str(label.get("name") or "") for label in found.get("labels") or ()),
        maintainer_can_modify=bool(found.get("maintainer_can_modify")),
    )
