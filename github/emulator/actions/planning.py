"""From an event to the workflows it starts: which files, which commit, which changed paths."""

from dataclasses import dataclass

from github.emulator.git.refs import Update
from github.emulator.git.repository import EMPTY_TREE, ZERO, GitRepository
from github.emulator.store.issues import Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.emulator.views.pulls import merge_base
from github.workflows import triggers
from github.workflows.triggers import Occasion
from github.workflows.workflow import BadWorkflow, WorkflowSpec, read

FOLDER = ".github/workflows"


@dataclass(frozen=True)
class Found:
    """A workflow file of a commit: `spec`, or the `problem` that makes it none."""

    path: str
    spec: WorkflowSpec | None
    problem: str = ""


def workflows(git: GitRepository, commit: str) -> list[Found]:
    """The workflow files of a commit, in the order of their names."""
    folder = git.entry(commit, FOLDER)
    if folder is None or folder.kind != "tree":
        return []
    found = []
    for entry in git.tree(folder.sha):
        if entry.kind != "blob" or not entry.path.endswith((".yml", ".yaml")):
            continue
        path = f"{FOLDER}/{entry.path}"
        try:
            found.append(Found(path, read(git.read(entry.sha).decode(errors="replace"), path)))
        except BadWorkflow as error:
            found.append(Found(path, None, str(error)))
    return found


def wanted(found: list[Found], occasion: Occasion) -> list[Found]:
    """Those the occasion starts. A broken file starts on a push, since nobody can tell what it wants."""
    return [
        one
        for one in found
        if (one.spec is None and occasion.event == "push") or (one.spec and triggers.starts(one.spec, occasion))
    ]


def changed_paths(git: GitRepository, old: str, new: str) -> list[str]:
    out = git.run("diff", "--name-only", "-z", "--no-renames", old, new, "--")
    return [name.decode(errors="replace") for name in out.split(b"\0")[:-1]]


def push_occasion(repository: Repository, update: Update) -> Occasion:
    """A push. A new branch is compared with where it left the default branch."""
    git = repository.git
    old = update.old
    if old == ZERO or not git.has(old):
        default = git.resolve(repository.default_branch)
        base = git.merge_base(default, update.new) if default else None
        old = base if base and base != update.new else _parent(git, update.new)
    kind, _, name = update.ref.removeprefix("refs/").partition("/")
    return Occasion(
        "push",
        update.ref,
        branch=name if kind == "heads" else None,
        tag=name if kind == "tags" else None,
        paths=changed_paths(git, old, update.new),
    )


def _parent(git: GitRepository, sha: str) -> str:
    return git.resolve(f"{sha}~1") or EMPTY_TREE


def pull_occasion(pull: Pull, event: str, action: str) -> Occasion:
    """A pull request: its base branch is what filters see."""
    paths = changed_paths(pull.repository.git, merge_base(pull), pull.head_sha)
    return Occasion(event, f"refs/pull/{pull.number}/merge", branch=pull.base_ref, action=action, paths=paths)


def needs_approval(store: Store, pull: Pull) -> bool:
    """Runs of a fork wait for a maintainer while its author has nothing merged and no rights here."""
    author = pull.issue.user
    if not pull.crosses_repositories or pull.repository.allows(author, "write"):
        return False
    return not any(p.merged_at and p.issue.user is author for p in store.pulls_of(pull.repository))
