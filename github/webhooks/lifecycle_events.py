"""Events that change the world under open sessions: installations, repositories and branches."""

from collections.abc import Iterable

from github.webhooks.events import Event, RepositoryPayload
from github.webhooks.identity import Me
from github.webhooks.outcomes import Change, Ignored, LifecycleEvent, Outcome, Repo
from github.webhooks.subjects import actor_of

_NOTHING = "0" * 40
_BRANCH = "refs/heads/"

_INSTALLATION = {
    "created": Change.INSTALLED,
    "deleted": Change.UNINSTALLED,
    "suspend": Change.SUSPENDED,
    "unsuspend": Change.UNSUSPENDED,
    "new_permissions_accepted": Change.PERMISSIONS_ACCEPTED,
}
_REPOSITORY = {
    "renamed": Change.RENAMED,
    "transferred": Change.TRANSFERRED,
    "archived": Change.ARCHIVED,
    "unarchived": Change.UNARCHIVED,
    "deleted": Change.REPOSITORY_DELETED,
}


def installation(event: Event) -> Outcome:
    """`installation`: created, deleted, suspended, unsuspended, or given new permissions."""
    found = event.installation
    if found is None or found.id is None:
        return Ignored("installation event without an installation")
    if event.action not in _INSTALLATION:
        return Ignored(f"installation.{event.action} changes nothing for us")
    return LifecycleEvent(
        _INSTALLATION[event.action],
        found.id,
        actor=actor_of(event.sender),
        account=actor_of(found.account),
        repositories=_repositories(event.repositories, found.id),
    )


def installation_repositories(event: Event) -> Outcome:
    """`installation_repositories`: which repositories we may see changed."""
    found = event.installation
    if found is None or found.id is None:
        return Ignored("installation_repositories event without an installation")
    added = event.action == "added"
    return LifecycleEvent(
        Change.REPOSITORIES_ADDED if added else Change.REPOSITORIES_REMOVED,
        found.id,
        actor=actor_of(event.sender),
        account=actor_of(found.account),
        repositories=_repositories(event.repositories_added if added else event.repositories_removed, found.id),
    )


def repository(event: Event, repo: Repo, me: Me) -> Outcome:
    """`repository`: renamed, transferred, archived, deleted, or with another default branch."""
    change = _REPOSITORY.get(event.action or "")
    if event.action == "edited" and event.changes is not None and event.changes.default_branch is not None:
        change = Change.DEFAULT_BRANCH_CHANGED
    if change is None:
        return Ignored(f"repository.{event.action} changes nothing for us")
    return LifecycleEvent(change, repo.installation_id, repo, actor_of(event.sender))


def push(event: Event, repo: Repo, me: Me) -> Outcome:
    """`push`: a branch was moved or deleted by somebody else."""
    ref = event.ref or ""
    if not ref.startswith(_BRANCH) or ref.startswith(_BRANCH + "gh-readonly-queue/"):
        return Ignored(f"a push to {ref or 'nothing'}, which is no branch of ours")
    actor = actor_of(event.sender)
    if me.is_me(actor):
        return Ignored("our own push")
    before, after = (sha if sha and sha != _NOTHING else "" for sha in (event.before, event.after))
    gone = bool(event.deleted) or not after
    return LifecycleEvent(
        Change.BRANCH_DELETED if gone else Change.BRANCH_MOVED,
        repo.installation_id,
        repo,
        actor,
        branch=ref.removeprefix(_BRANCH),
        before=before,
        after="" if gone else after,
    )


def _repositories(found: Iterable[RepositoryPayload | None] | None, installation_id: int) -> tuple[Repo, ...]:
    return tuple(
        Repo(each.id, each.full_name or "", installation_id, each.default_branch or "")
        for each in found or ()
        if each is not None and each.id is not None
    )
