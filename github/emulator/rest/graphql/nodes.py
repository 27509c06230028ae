"""What GraphQL shows of the store's rows."""

from collections import Counter
from collections.abc import Callable
from typing import Any

from github.emulator.acts import pulls as pull_acts
from github.emulator.api.call import Call
from github.emulator.clock import iso, iso_or_none
from github.emulator.git import refs
from github.emulator.merge_queue import Entry
from github.emulator.rest.graphql.checks import rollup_of
from github.emulator.rest.graphql.commits import commit, object_of, readable
from github.emulator.rest.graphql.errors import RefusedQuery
from github.emulator.rest.graphql.pages import connection
from github.emulator.rules import merging
from github.emulator.store.comments import Comment
from github.emulator.store.issues import Issue, Pull
from github.emulator.store.reactions import CONTENTS, Reaction
from github.emulator.store.repositories import Label, Repository
from github.emulator.store.reviews import Review, ReviewComment, Thread
from github.emulator.store.table import node_id
from github.emulator.store.users import User
from github.emulator.views import issues as issue_views
from github.emulator.views import pulls as pull_views

Json = dict[str, Any]
_EMOJI = {"+1": "THUMBS_UP", "-1": "THUMBS_DOWN"} | {kind: kind.upper() for kind in CONTENTS if kind.isalpha()}
_ACTORS = {"User": "U", "Organization": "O", "Bot": "BOT"}


class Nodes:
    """The objects of one call, as dictionaries whose functions are fields that are looked up when asked for."""

    def __init__(self, call: Call) -> None:
        self._call, self._store = call, call.store

    def actor(self, user: User | None) -> Json | None:
        """Bots are named without the suffix that REST gives them."""
        if user is None:
            return None
        name = {"login": user.login.removesuffix("[bot]"), "databaseId": user.id, "name": user.name}
        return {"__typename": user.type, "id": node_id(_ACTORS[user.type], user.id)} | name

    def repository(self, row: Repository) -> Json:
        url = f"{self._store.origins.web}/{row.full_name}"
        role = row.role_of(self._call.actor.user) if self._call.actor.token is None else "write"
        return {
            "__typename": "Repository",
            "id": node_id("R", row.id),
            "databaseId": row.id,
            "name": row.name,
            "nameWithOwner": row.full_name,
            "owner": self.actor(row.owner),
            "url": url,
            "description": row.description,
            "isPrivate": row.private,
            "isFork": row.parent is not None,
            "isArchived": row.archived,
            "visibility": row.visibility.upper(),
            "createdAt": iso(row.created_at),
            "pushedAt": iso(row.pushed_at),
            "hasIssuesEnabled": row.has_issues,
            "hasWikiEnabled": True,
            "mergeCommitAllowed": True,
            "rebaseMergeAllowed": True,
            "squashMergeAllowed": True,
            "viewerPermission": role.upper() if role != "none" else None,
            "isDisabled": row.disabled,
            "object": readable(
                self._call,
                "contents",
                lambda _info, oid=None, expression=None: object_of(self._call, row, oid, expression),
            ),
            "ref": readable(self._call, "contents", lambda _info, qualifiedName: self._ref(row, qualifiedName)),
            "defaultBranchRef": lambda _info: self._default_branch(row),
            "parent": lambda _info: None if row.parent is None else self.repository(row.parent),
            "labels": connection(lambda wanted: _labels(row, wanted), self.label),
            "issue": lambda _info, number: self._numbered(row, number, "Issue"),
            "pullRequest": readable(
                self._call, "pull_requests", lambda _info, number: self._numbered(row, number, "PullRequest")
            ),
            "issueOrPullRequest": lambda _info, number: self._numbered(row, number, ""),
            "issues": connection(lambda wanted: self._issues(row, wanted), self.issue),
            "pullRequests": connection(lambda wanted: self._pulls(row, wanted), self.pull),
        }

    def _default_branch(self, row: Repository) -> Json | None:
        sha = None if row.git.empty else row.git.resolve(row.default_branch)
        return None if sha is None else self._pointing(row, row.default_branch, sha)

    def _ref(self, row: Repository, name: str) -> Json | None:
        """The ref of a full name, or of that of a branch."""
        full = name if name.startswith("refs/") else f"refs/heads/{name}"
        sha = None if row.git.empty else refs.sha_of(row.git, full)
        if sha is None or self._call.ref_lags("ref", row, full):
            return None
        return self._pointing(row, full.split("/", 2)[2], sha)

    def _pointing(self, row: Repository, name: str, sha: str) -> Json:
        return {"name": name, "target": lambda _info: commit(self._call, row, sha)}

    def _numbered(self, row: Repository, number: int, wanted: str) -> Json:
        """The issue or pull request of that number, if it is of the type `wanted`, or either where that is none."""
        issue = self._store.issue(row, number)
        if issue is not None and not issue.deleted:
            found = self.conversation(issue)
            if wanted in ("", found["__typename"]):
                return found
        kind = {"": "an issue or pull request", "Issue": "an Issue", "PullRequest": "a PullRequest"}[wanted]
        raise RefusedQuery("NOT_FOUND", f"Could not resolve to {kind} with the number of {number}.")

    def _issues(self, row: Repository, wanted: Json) -> list[Issue]:
        filters = {key: value for key, value in (wanted.get("filterBy") or {}).items() if value is not None}
        found = [issue for issue in self._store.issues_of(row) if issue.pull is None and not issue.deleted]
        if states := wanted.get("states") or filters.get("states"):
            found = [issue for issue in found if issue.state.upper() in states]
        if labels := wanted.get("labels") or filters.get("labels"):
            found = [issue for issue in found if {label.name for label in issue.labels} & set(labels)]
        if author := filters.get("createdBy"):
            found = [issue for issue in found if issue.user and issue.user.login == author]
        if assignee := filters.get("assignee"):
            found = [issue for issue in found if assignee in [user.login for user in issue.assignees]]
        return _ordered(found, wanted, lambda issue: issue)

    def _pulls(self, row: Repository, wanted: Json) -> list[Pull]:
        found = self._store.pulls_of(row)
        if states := wanted.get("states"):
            found = [pull for pull in found if _state(pull) in states]
        if (head := wanted.get("headRefName")) is not None:
            found = [pull for pull in found if pull.head_ref == head]
        if (base := wanted.get("baseRefName")) is not None:
            found = [pull for pull in found if pull.base_ref == base]
        return _ordered(found, wanted, lambda pull: pull.issue)

    def conversation(self, row: Issue) -> Json:
        """An issue or a pull request, whichever it is."""
        return self.issue(row) if row.pull is None else self.pull(row.pull)

    def issue(self, row: Issue) -> Json:
        return self._talk(row) | {
            "__typename": "Issue",
            "id": node_id("I", row.id),
            "databaseId": row.id,
            "state": row.state.upper(),
            "stateReason": row.state_reason.upper() if row.state_reason else None,
        }

    def _talk(self, row: Issue) -> Json:
        """What issues and pull requests have in common."""
        return {
            "number": row.number,
            "title": row.title,
            "body": row.body or "",
            "url": issue_views.html_url(self._store, row),
            "author": self.actor(row.user),
            "closed": row.state == "closed",
            "closedAt": iso_or_none(row.closed_at),
            "createdAt": iso(row.created_at),
            "updatedAt": iso(row.updated_at),
            "locked": row.locked,
            "authorAssociation": issue_views.association(self._store, row.repository, row.user),
            "milestone": None,
            "projectCards": connection(lambda _: [], lambda row: row),
            "reactionGroups": _groups(row.reactions),
            "labels": connection(lambda _: row.labels, self.label),
            "assignees": connection(lambda _: row.assignees, self.actor),
            "comments": connection(lambda _: self._store.comments_of(row), self.comment),
        }

    def label(self, row: Label) -> Json:
        about = {"name": row.name, "color": row.color, "description": row.description}
        return {"id": node_id("LA", row.id)} | about

    def comment(self, row: Comment) -> Json:
        return {
            "__typename": "IssueComment",
            "id": node_id("IC", row.id),
            "databaseId": row.id,
            "author": self.actor(row.user),
            "body": row.body,
            "createdAt": iso(row.created_at),
            "updatedAt": iso(row.updated_at),
            "url": f"{issue_views.html_url(self._store, row.issue)}#issuecomment-{row.id}",
            "authorAssociation": issue_views.association(self._store, row.issue.repository, row.user),
            "includesCreatedEdit": row.updated_at > row.created_at,
            "viewerDidAuthor": row.user is self._call.actor.user,
            "reactionGroups": _groups(row.reactions),
            "isMinimized": row.minimized is not None,
            "minimizedReason": row.minimized,
        }

    def review(self, row: Review) -> Json:
        return {
            "id": node_id("PRR", row.id),
            "databaseId": row.id,
            "author": self.actor(row.user),
            "authorAssociation": issue_views.association(self._store, row.pull.repository, row.user),
            "body": row.body,
            "commit": {"oid": row.commit_id},
            "state": row.state,
            "submittedAt": iso_or_none(row.submitted_at),
            "url": f"{issue_views.html_url(self._store, row.pull.issue)}#pullrequestreview-{row.id}",
            "reactionGroups": _groups(row.reactions),
            "includesCreatedEdit": False,
        }

    def pull(self, row: Pull) -> Json:
        head = row.head_repository

        def threads(_: Json) -> list[Thread]:
            return [each for each in self._store.threads if each.pull is row]

        def reviews(_: Json) -> list[Review]:
            return [each for each in self._store.reviews if each.pull is row]

        return self._talk(row.issue) | {
            "__typename": "PullRequest",
            "id": node_id("PR", row.id),
            "databaseId": row.id,
            "isDraft": row.draft,
            "state": _state(row),
            "merged": row.merged_at is not None,
            "mergedAt": iso_or_none(row.merged_at),
            "mergedBy": self.actor(row.merged_by),
            "headRefName": row.head_ref,
            "headRefOid": row.head_sha,
            "headRepository": None if head is None else lambda _info: self.repository(head),
            "headRepositoryOwner": self.actor(head.owner) if head else None,
            "baseRefName": row.base_ref,
            "baseRefOid": row.shown_base_sha,
            "baseRef": lambda _info: self._ref(row.repository, row.base_ref),
            "baseRepository": lambda _info: self.repository(row.repository),
            "mergeStateStatus": lambda _info: self._merge_state(row),
            "isCrossRepository": row.crosses_repositories,
            "maintainerCanModify": row.maintainer_can_modify,
            "mergeable": lambda _info: self._mergeable(row),
            "additions": lambda _info: pull_views.full(self._store, row)["additions"],
            "deletions": lambda _info: pull_views.full(self._store, row)["deletions"],
            "changedFiles": lambda _info: pull_views.full(self._store, row)["changed_files"],
            "reviewRequests": connection(
                lambda _: row.requested_reviewers, lambda user: {"requestedReviewer": self.actor(user)}
            ),
            "reviews": connection(reviews, self.review),
            "isInMergeQueue": lambda _info: self._queued(row) is not None,
            "mergeQueueEntry": lambda _info: self._queued(row),
            "reviewThreads": connection(threads, self.thread),
            "commits": connection(
                lambda _: row.repository.git.shas(pull_views.span(row)),
                lambda sha: {"commit": commit(self._call, row.repository, sha)},
            ),
            "statusCheckRollup": lambda _info: rollup_of(self._call, row.repository, row.head_sha),
        }

    def queued(self, row: Entry) -> Json:
        line = self._call.hub.merge_queue.in_line(row.pull.repository, row.pull.base_ref)
        return {
            "id": node_id("MQE", row.id),
            "position": line.index(row) + 1 if row in line else 1,
            "baseCommit": {"oid": row.base},
            "headCommit": {"oid": row.sha},
            "enqueuer": self.actor(row.by),
            "pullRequest": lambda _info: self.pull(row.pull),
        }

    def _queued(self, row: Pull) -> Json | None:
        entry = self._call.hub.merge_queue.entry(row)
        return None if entry is None else self.queued(entry)

    def _mergeable(self, row: Pull) -> str:
        """As it was known so far; asking lets it be known the next time."""
        known = row.merge_of == (row.base_sha, row.head_sha)
        shown = {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}[row.mergeable if known else None]
        if row.open:
            pull_acts.compute_merge(self._store, row)
        return shown

    def _merge_state(self, row: Pull) -> str:
        known = row.merge_of == (row.base_sha, row.head_sha)
        return merging.mergeable_state(self._store, row).upper() if known else "UNKNOWN"

    def thread(self, row: Thread) -> Json:
        rows = self.remarks(row)
        return {
            "id": node_id("PRRT", row.id),
            "isResolved": row.resolved,
            "isOutdated": bool(rows) and rows[0].line is None,
            "comments": connection(lambda _: rows, self.remark),
        }

    def remarks(self, row: Thread) -> list[ReviewComment]:
        """The comments of a thread, oldest first."""
        return [each for each in self._store.review_comments if each.thread is row]

    def remark(self, row: ReviewComment) -> Json:
        return {
            "__typename": "PullRequestReviewComment",
            "id": node_id("PRRC", row.id),
            "databaseId": row.id,
            "body": row.body,
            "isMinimized": row.minimized is not None,
            "minimizedReason": row.minimized,
        }


def _groups(reactions: list[Reaction]) -> list[Json]:
    """Every kind of reaction, with how many there are."""
    counts = Counter(reaction.content for reaction in reactions)
    return [{"content": _EMOJI[kind], "users": {"totalCount": counts[kind]}} for kind in CONTENTS]


def _labels(row: Repository, wanted: Json) -> list[Label]:
    query = (wanted.get("query") or "").lower()
    order = wanted.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    found = [label for label in row.labels.values() if query in f"{label.name} {label.description or ''}".lower()]
    found.sort(key=lambda label: (label.name.lower() if order["field"] == "NAME" else "", label.id))
    return found[::-1] if order["direction"] == "DESC" else found


def _state(row: Pull) -> str:
    return "MERGED" if row.merged_at else row.issue.state.upper()


def _ordered(rows: list[Any], wanted: Json, issue_of: Callable[[Any], Issue]) -> list[Any]:
    """Oldest first unless an order is asked for."""
    order = wanted.get("orderBy") or {"field": "CREATED_AT", "direction": "ASC"}
    updated = order["field"] == "UPDATED_AT"

    def key(row: Any) -> Any:
        issue = issue_of(row)
        return (issue.updated_at if updated else issue.created_at, issue.number)

    return sorted(rows, key=key, reverse=order["direction"] == "DESC")
