"""Pull requests: opened, brought up to date with their branches, merged, made drafts and ready."""

from github.emulator.acts.issues import tell
from github.emulator.forge import Forge
from github.emulator.git import refs
from github.emulator.git.commits import Commit, Person, write
from github.emulator.store.apps import App
from github.emulator.store.issues import Issue, Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.store import Store
from github.emulator.store.users import User
from github.emulator.views import users


def opened(
    forge: Forge,
    repository: Repository,
    by: User,
    title: str,
    body: str | None,
    head_repository: Repository,
    head_ref: str,
    base_ref: str,
    draft: bool = False,
    maintainer_can_modify: bool = False,
    via_app: App | None = None,
    issue: Issue | None = None,
) -> Pull:
    """Open a pull request, or turn an issue into one. Both branches are known to exist."""
    now, store = forge.now(), forge.store
    if issue is None:
        issue = Issue(
            forge.store.issues.new_id(),
            repository,
            repository.next_number(),
            title,
            body,
            by,
            now,
            now,
            via_app=via_app,
        )
        store.issues.add(issue)
    base_sha = refs.sha_of(repository.git, f"refs/heads/{base_ref}") or ""
    pull = Pull(
        id=forge.store.pulls.new_id(),
        issue=issue,
        head_repository=head_repository,
        head_label=f"{head_repository.owner.login}:{head_ref}",
        head_ref=head_ref,
        head_sha=refs.sha_of(head_repository.git, f"refs/heads/{head_ref}") or "",
        base_ref=base_ref,
        base_sha=base_sha,
        shown_base_sha=base_sha,
        draft=draft,
        maintainer_can_modify=maintainer_can_modify,
    )
    issue.pull = forge.store.pulls.add(pull)
    follow_head(pull)
    tell(forge, issue, "opened", by)
    return pull


def follow_head(pull: Pull) -> None:
    """Bring the head commit into the base repository and point `refs/pull/N/head` at it."""
    git = pull.repository.git
    if pull.head_repository is not None and pull.crosses_repositories:
        git.fetch_object(pull.head_repository.git, pull.head_sha)
    refs.move(git, f"refs/pull/{pull.number}/head", pull.head_sha)


def compute_merge(store: Store, pull: Pull) -> None:
    """Make the test merge and learn whether the branches conflict."""
    ends = (pull.base_sha, pull.head_sha)
    if pull.merge_of == ends:
        return
    git = pull.repository.git
    name = f"refs/pull/{pull.number}/merge"
    tree = git.merge_tree(pull.base_sha, pull.head_sha)
    pull.merge_of, pull.mergeable, pull.merge_sha = ends, tree is not None, None
    if tree is None:
        if refs.sha_of(git, name):
            refs.delete(git, name)
        return
    message = f"Merge {pull.head_sha} into {pull.base_sha}"
    who = Person("GitHub", "noreply@github.com", store.now())
    merge = write(git, Commit("", tree, ends, who, who, message), store.signer.sign)
    pull.merge_sha = merge.sha
    refs.move(git, name, merge.sha)


def synchronized(forge: Forge, pull: Pull, before: str, after: str, by: User) -> None:
    """The head branch moved. Line comments on lines that are gone become outdated by view."""
    pull.head_sha, pull.shown_base_sha = after, pull.base_sha
    follow_head(pull)
    pull.issue.updated_at = forge.now()
    tell(forge, pull.issue, "synchronize", by, before=before, after=after)


def draft_changed(forge: Forge, pull: Pull, draft: bool, by: User) -> None:
    if pull.draft == draft:
        return
    pull.draft = draft
    pull.issue.updated_at = forge.now()
    action = "converted_to_draft" if draft else "ready_for_review"
    tell(forge, pull.issue, action, by)


def base_changed(forge: Forge, pull: Pull, base_ref: str, by: User) -> None:
    before, before_sha = pull.base_ref, pull.base_sha
    pull.base_ref = base_ref
    pull.base_sha = refs.sha_of(pull.repository.git, f"refs/heads/{base_ref}") or pull.base_sha
    pull.shown_base_sha = pull.base_sha
    pull.issue.updated_at = forge.now()
    changes = {"base": {"ref": {"from": before}, "sha": {"from": before_sha}}}
    tell(forge, pull.issue, "edited", by, changes=changes)


def merged(forge: Forge, pull: Pull, sha: str, by: User) -> None:
    """Its commits are in the base branch now, as `sha`."""
    now = forge.now()
    pull.merged_at, pull.merged_by, pull.merge_sha = now, by, sha
    issue = pull.issue
    issue.state, issue.closed_at, issue.closed_by, issue.updated_at = "closed", now, by, now
    tell(forge, issue, "closed", by)


def reviewers_requested(forge: Forge, pull: Pull, people: list[User], by: User) -> None:
    for user in people:
        if user not in pull.requested_reviewers:
            pull.requested_reviewers.append(user)
            tell(forge, pull.issue, "review_requested", by, requested_reviewer=users.simple(forge.store, user))


def reviewers_removed(forge: Forge, pull: Pull, people: list[User], by: User) -> None:
    for user in people:
        if user in pull.requested_reviewers:
            pull.requested_reviewers.remove(user)
            tell(forge, pull.issue, "review_request_removed", by, requested_reviewer=users.simple(forge.store, user))
