"""The part of GitHub's GraphQL that REST cannot do: drafts, review threads, hidden comments, reactions on reviews."""

from collections.abc import Callable
from typing import Any

from graphql import GraphQLResolveInfo, graphql_sync

from github.emulator.acts import comments, pulls, reviews
from github.emulator.api.access import sees
from github.emulator.api.call import Answer, Call
from github.emulator.api.route import Route
from github.emulator.clock import iso
from github.emulator.git import commits
from github.emulator.rest.graphql import errors
from github.emulator.rest.graphql.errors import RefusedQuery
from github.emulator.rest.graphql.rollup import rollup_of
from github.emulator.rest.graphql.schema import SCHEMA
from github.emulator.store.issues import Pull
from github.emulator.store.reviews import ReviewComment, Thread
from github.emulator.store.table import node_id, row_id_of
from github.emulator.views.issues import html_url
from github.emulator.views.pulls import span

PAGE = 100
CONTENTS = {"THUMBS_UP": "+1", "THUMBS_DOWN": "-1"}
Json = dict[str, Any]
Info = GraphQLResolveInfo[Any]


class Root:
    """Resolves the fields above for one call."""

    def __init__(self, call: Call) -> None:
        self._call, self._hub = call, call.hub

    def repository(self, _info: Info, owner: str, name: str) -> Json:
        found = self._hub.store.repository(f"{owner}/{name}")
        if found is None or not sees(self._call, found):
            message = f"Could not resolve to a Repository with the name '{owner}/{name}'."
            raise RefusedQuery("NOT_FOUND", message)

        def pull_request(_info: Info, number: int) -> Json:
            issue = self._hub.store.issue(found, number)
            if issue is None or issue.pull is None:
                raise RefusedQuery("NOT_FOUND", f"Could not resolve to a PullRequest with the number of {number}.")
            return self._pull(issue.pull)

        return {"id": node_id("R", found.id), "nameWithOwner": found.full_name, "pullRequest": pull_request}

    def viewer(self, _info: Info) -> Json:
        user = self._call.user
        return {"login": user.login, "databaseId": user.id}

    def rateLimit(self, _info: Info) -> Json:
        budget = self._hub.limits.budget(self._call.actor, "graphql")
        shown = {"limit": budget.limit, "remaining": budget.remaining, "used": budget.used}
        return shown | {"cost": 1, "resetAt": iso(budget.reset)}

    def markPullRequestReadyForReview(self, _info: Info, input: Json) -> Json:
        return self._draft(input, draft=False)

    def convertPullRequestToDraft(self, _info: Info, input: Json) -> Json:
        return self._draft(input, draft=True)

    def resolveReviewThread(self, _info: Info, input: Json) -> Json:
        return self._resolve(input, on=True)

    def unresolveReviewThread(self, _info: Info, input: Json) -> Json:
        return self._resolve(input, on=False)

    def addPullRequestReviewThreadReply(self, _info: Info, input: Json) -> Json:
        thread = self._thread(input["pullRequestReviewThreadId"])
        if self._call.actor.token is not None:
            self._writes(thread.pull.repository, "pull_requests")
        made = reviews.replied(self._hub.forge, self._comments(thread)[0], self._call.user, input["body"])
        return {"comment": _comment(made), "clientMutationId": input.get("clientMutationId")}

    def minimizeComment(self, _info: Info, input: Json) -> Json:
        node, store = input["subjectId"], self._hub.store
        number, line = row_id_of(node, "IC"), row_id_of(node, "PRRC")
        row = store.comments.get(number) if number else store.review_comments.get(line) if line else None
        if row is None:
            raise _no_node(node)
        repository = row.issue.repository if hasattr(row, "issue") else row.pull.repository
        self._writes(repository, "issues", "pull_requests")
        row.minimized = input["classifier"].lower()
        minimized = {"isMinimized": True, "minimizedReason": row.minimized}
        return {"minimizedComment": minimized, "clientMutationId": input.get("clientMutationId")}

    def addReaction(self, _info: Info, input: Json) -> Json:
        node, store, content = input["subjectId"], self._hub.store, input["content"]
        number, line, review = row_id_of(node, "IC"), row_id_of(node, "PRRC"), row_id_of(node, "PRR")
        row: Any = store.comments.get(number) if number else None
        row = row or (store.review_comments.get(line) if line else None)
        row = row or (store.reviews.get(review) if review else None)
        repository = None if row is None else row.issue.repository if number else row.pull.repository
        if repository is None or not sees(self._call, repository):
            raise _no_node(node)
        if (token := self._call.actor.token) is not None:  # a person who sees it may react to it
            wanted = "issues" if number else "pull_requests"
            if token.permissions.get(wanted) != "write":
                raise RefusedQuery("FORBIDDEN", "Resource not accessible by integration")
        comments.reacted(self._hub.forge, row.reactions, self._call.user, CONTENTS.get(content, content.lower()))
        return {"reaction": {"content": content}, "clientMutationId": input.get("clientMutationId")}

    def _draft(self, input: Json, *, draft: bool) -> Json:
        pull = self._found(input["pullRequestId"], "PR", self._hub.store.pulls.get)
        self._writes(pull.repository, "pull_requests")
        if pull.draft == draft:
            word = "already a draft" if draft else "not a draft"
            raise RefusedQuery("UNPROCESSABLE", f"Pull request is {word}")
        pulls.draft_changed(self._hub.forge, pull, draft, self._call.user)
        return {"pullRequest": self._pull(pull), "clientMutationId": input.get("clientMutationId")}

    def _resolve(self, input: Json, *, on: bool) -> Json:
        thread = self._thread(input["threadId"])
        self._writes(thread.pull.repository, "contents", "pull_requests")
        reviews.thread_resolved(self._hub.forge, thread, on, self._call.user)
        return {"thread": self._show(thread), "clientMutationId": input.get("clientMutationId")}

    def _thread(self, node: str) -> Thread:
        found: Thread = self._found(node, "PRRT", self._hub.store.threads.get)
        return found

    def _found(self, node: str, prefix: str, get: Callable[[int], Any]) -> Any:
        number = row_id_of(node, prefix)
        row = get(number) if number is not None else None
        if row is None or not sees(self._call, (row if isinstance(row, Pull) else row.pull).repository):
            raise _no_node(node)
        return row

    def _writes(self, repository: Any, *permissions: str) -> None:
        token = self._call.actor.token
        allowed = (
            any(token.permissions.get(name) == "write" for name in permissions)
            if token is not None
            else repository.allows(self._call.actor.user, "write")
        )
        if not allowed:
            raise RefusedQuery("FORBIDDEN", "Resource not accessible by integration")

    def _pull(self, pull: Pull) -> Json:
        def threads(_info: Info, first: int = PAGE, after: str | None = None) -> Json:
            rows = [row for row in self._hub.store.threads if row.pull is pull]
            start = int(after or 0)
            shown = rows[start : start + first]
            more = start + first < len(rows)
            return {
                "nodes": [self._show(row) for row in shown],
                "totalCount": len(rows),
                "pageInfo": {"hasNextPage": more, "endCursor": str(start + len(shown)) if shown else None},
            }

        return {
            "id": node_id("PR", pull.id),
            "number": pull.number,
            "isDraft": pull.draft,
            "title": pull.issue.title,
            "url": html_url(self._hub.store, pull.issue),
            "state": "MERGED" if pull.merged_at else pull.issue.state.upper(),
            "headRefName": pull.head_ref,
            "headRefOid": pull.head_sha,
            "baseRefName": pull.base_ref,
            "mergeable": {True: "MERGEABLE", False: "CONFLICTING", None: "UNKNOWN"}[pull.mergeable],
            "reviewThreads": threads,
            "commits": lambda _info, first=None, last=None: self._commits(pull, first, last),
            "statusCheckRollup": rollup_of(self._hub.store, pull.repository, pull.head_sha),
        }

    def _commits(self, pull: Pull, first: int | None, last: int | None) -> Json:
        git = pull.repository.git
        shas = git.shas(span(pull))
        shown = shas[:first] if first is not None else shas[-last:] if last else shas[:PAGE]
        nodes = [
            {
                "oid": sha,
                "messageHeadline": commits.read(git, sha).headline,
                "statusCheckRollup": rollup_of(self._hub.store, pull.repository, sha),
            }
            for sha in shown
        ]
        return {"nodes": [{"commit": node} for node in nodes], "totalCount": len(shas)}

    def _show(self, thread: Thread) -> Json:
        def listed(_info: Info, first: int = PAGE, after: str | None = None) -> Json:
            rows = self._comments(thread)
            return {"nodes": [_comment(row) for row in rows[:first]], "totalCount": len(rows)}

        rows = self._comments(thread)
        return {
            "id": node_id("PRRT", thread.id),
            "isResolved": thread.resolved,
            "isOutdated": bool(rows) and rows[0].line is None,
            "comments": listed,
        }

    def _comments(self, thread: Thread) -> list[ReviewComment]:
        return [row for row in self._hub.store.review_comments if row.thread is thread]


def _comment(row: ReviewComment) -> Json:
    return {"id": node_id("PRRC", row.id), "databaseId": row.id, "body": row.body}


def _no_node(node: str) -> RefusedQuery:
    return RefusedQuery("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'.")


def answer(call: Call) -> Answer:
    """Always 200, errors in the body, as GitHub does it."""
    result = graphql_sync(
        SCHEMA,
        str(call.get("query") or ""),
        root_value=Root(call),
        variable_values=call.get("variables") or {},
    )
    shown = [errors.shown(error) for error in result.errors or []]
    if shown and all("path" not in error for error in shown):  # nothing was asked of any field
        return Answer(200, {"errors": shown})
    return Answer(200, {"data": result.data} | ({"errors": shown} if shown else {}))


ROUTES = [Route("POST", "/graphql", answer, "any")]
