"""What is changed by GraphQL: drafts, review threads, hidden comments, reactions, and what REST can do as well."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

from graphql import GraphQLResolveInfo

from github.emulator.acts import comments, issues, pulls, reviews
from github.emulator.api.access import sees
from github.emulator.api.call import Answer, Call
from github.emulator.errors import Refusal
from github.emulator.merge_queue import CannotQueue
from github.emulator.rest.graphql.errors import RefusedQuery
from github.emulator.rest.graphql.nodes import Nodes
from github.emulator.rest.threads import comments as rest_comments
from github.emulator.rest.threads import issues as rest_issues
from github.emulator.rest.threads import pulls as rest_pulls
from github.emulator.store.comments import Comment
from github.emulator.store.issues import Issue, Pull
from github.emulator.store.repositories import Repository
from github.emulator.store.reviews import Thread
from github.emulator.store.table import row_id_of

CONTENTS = {"THUMBS_UP": "+1", "THUMBS_DOWN": "-1"}
Json = dict[str, Any]
Info = GraphQLResolveInfo[Any]


class Mutations:
    """Resolves the fields of `Mutation` for one call."""

    def __init__(self, call: Call) -> None:
        self._call, self._hub, self._nodes = call, call.hub, Nodes(call)

    def createPullRequest(self, _info: Info, input: Json) -> Json:
        repository = self._repository(input["repositoryId"])
        self._writes(repository, "pull_requests")
        self._creates()
        names = {"baseRefName": "base", "headRefName": "head", "maintainerCanModify": "maintainer_can_modify"}
        made = self._rest(rest_pulls.create, repository, {names.get(key, key): value for key, value in input.items()})
        issue = self._hub.store.issue(repository, made["number"])
        return self._payload(input, pullRequest=self._nodes.conversation(issue) if issue else None)

    def createIssue(self, _info: Info, input: Json) -> Json:
        repository = self._repository(input["repositoryId"])
        self._writes(repository, "issues", role="read")
        self._creates()
        wanted = set(input.get("labelIds") or [])
        labels = [row.name for row in repository.labels.values() if self._nodes.label(row)["id"] in wanted]
        made = self._rest(rest_issues.create, repository, {**input, "labels": labels})
        issue = self._hub.store.issue(repository, made["number"])
        return self._payload(input, issue=self._nodes.conversation(issue) if issue else None)

    def addComment(self, _info: Info, input: Json) -> Json:
        issue = self._conversation(input["subjectId"])
        self._writes(issue.repository, "issues", "pull_requests", role="read")
        self._creates()
        number = {"issue_number": str(issue.number)}
        made = self._rest(rest_comments.create, issue.repository, {"body": input["body"]}, number)
        row = self._hub.store.comments.get(made["id"])
        edge = {"node": self._nodes.comment(row) if row else None}
        return self._payload(input, commentEdge=edge, subject=self._nodes.conversation(issue))

    def closePullRequest(self, _info: Info, input: Json) -> Json:
        pull = self._pull(input["pullRequestId"])
        self._writes(pull.repository, "pull_requests", role=self._closing_role(pull.issue))
        issues.closed(self._hub.forge, pull.issue, self._call.user, None)
        return self._payload(input, pullRequest=self._nodes.pull(pull))

    def closeIssue(self, _info: Info, input: Json) -> Json:
        issue = self._conversation(input["issueId"])
        self._writes(issue.repository, "issues", role=self._closing_role(issue))
        reason = (input.get("stateReason") or "completed").lower()
        issues.closed(self._hub.forge, issue, self._call.user, reason)
        return self._payload(input, issue=self._nodes.conversation(issue))

    def enqueuePullRequest(self, _info: Info, input: Json) -> Json:
        pull = self._pull(input["pullRequestId"])
        self._writes(pull.repository, "pull_requests")
        if input.get("expectedHeadOid") not in (None, pull.head_sha):
            raise RefusedQuery("UNPROCESSABLE", "Head branch was modified. Review and try the merge again.")
        try:
            entry = self._hub.merge_queue.add(pull, self._call.user)
        except CannotQueue as error:
            raise RefusedQuery("UNPROCESSABLE", str(error)) from error
        return self._payload(input, mergeQueueEntry=self._nodes.queued(entry))

    def dequeuePullRequest(self, _info: Info, input: Json) -> Json:
        pull = self._pull(input["id"])
        self._writes(pull.repository, "pull_requests")
        entry = self._hub.merge_queue.entry(pull)
        if entry is None:
            raise RefusedQuery("UNPROCESSABLE", "Pull request is not in the queue")
        shown = self._nodes.queued(entry)
        self._hub.merge_queue.remove(pull, "MANUAL", self._call.user)
        return self._payload(input, mergeQueueEntry=shown)

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
        self._creates()
        made = reviews.replied(self._hub.forge, self._nodes.remarks(thread)[0], self._call.user, input["body"])
        return self._payload(input, comment=self._nodes.remark(made))

    def minimizeComment(self, _info: Info, input: Json) -> Json:
        node, store = input["subjectId"], self._hub.store
        number, line = row_id_of(node, "IC"), row_id_of(node, "PRRC")
        row = store.comments.get(number) if number else store.review_comments.get(line) if line else None
        if row is None:
            raise _no_node(node)
        repository = row.issue.repository if isinstance(row, Comment) else row.pull.repository
        self._writes(repository, "issues", "pull_requests")
        row.minimized = input["classifier"].lower()
        shown = self._nodes.comment(row) if isinstance(row, Comment) else self._nodes.remark(row)
        return self._payload(input, minimizedComment=shown)

    def addReaction(self, _info: Info, input: Json) -> Json:
        node, store, content = input["subjectId"], self._hub.store, input["content"]
        number, line, review = row_id_of(node, "IC"), row_id_of(node, "PRRC"), row_id_of(node, "PRR")
        row: Any = store.comments.get(number) if number else None
        row = row or (store.review_comments.get(line) if line else None)
        row = row or (store.reviews.get(review) if review else None)
        repository = None if row is None else row.issue.repository if number else row.pull.repository
        if repository is None or not sees(self._call, repository):
            raise _no_node(node)
        self._writes(repository, "issues" if number else "pull_requests", role="read")
        comments.reacted(self._hub.forge, row.reactions, self._call.user, CONTENTS.get(content, content.lower()))
        return self._payload(input, reaction={"content": content})

    def _closing_role(self, issue: Issue) -> str:
        """Authors close what is theirs."""
        return "read" if issue.user is self._call.actor.user else "triage"

    def _draft(self, input: Json, *, draft: bool) -> Json:
        pull = self._pull(input["pullRequestId"])
        self._writes(pull.repository, "pull_requests")
        if pull.draft == draft:
            word = "already a draft" if draft else "not a draft"
            raise RefusedQuery("UNPROCESSABLE", f"Pull request is {word}")
        pulls.draft_changed(self._hub.forge, pull, draft, self._call.user)
        return self._payload(input, pullRequest=self._nodes.pull(pull))

    def _resolve(self, input: Json, *, on: bool) -> Json:
        thread = self._thread(input["threadId"])
        self._writes(thread.pull.repository, "contents", "pull_requests")
        reviews.thread_resolved(self._hub.forge, thread, on, self._call.user)
        return self._payload(input, thread=self._nodes.thread(thread))

    def _repository(self, node: str) -> Repository:
        found: Repository = self._found(node, "R", self._hub.store.repositories.get, lambda row: row)
        return found

    def _conversation(self, node: str) -> Issue:
        """The issue, also that of a pull request."""
        if row_id_of(node, "PR") is not None:
            return self._pull(node).issue
        found: Issue = self._found(node, "I", self._hub.store.issues.get, lambda row: row.repository)
        return found

    def _pull(self, node: str) -> Pull:
        found: Pull = self._found(node, "PR", self._hub.store.pulls.get, lambda row: row.repository)
        return found

    def _thread(self, node: str) -> Thread:
        found: Thread = self._found(node, "PRRT", self._hub.store.threads.get, lambda row: row.pull.repository)
        return found

    def _found(self, node: str, prefix: str, get: Callable[[int], Any], where: Callable[[Any], Repository]) -> Any:
        number = row_id_of(node, prefix)
        row = get(number) if number is not None else None
        if row is None or not sees(self._call, where(row)):
            raise _no_node(node)
        return row

    def _writes(self, repository: Repository, *permissions: str, role: str = "write") -> None:
        """Refuse a token without one of these permissions, and a person without the role."""
        token = self._call.actor.token
        allowed = (
            any(token.permissions.get(name) == "write" for name in permissions)
            if token is not None
            else repository.allows(self._call.actor.user, role)
        )
        if not allowed:
            raise RefusedQuery("FORBIDDEN", "Resource not accessible by integration")

    def _creates(self) -> None:
        """Count what makes content, together with what REST makes; the words are those of cli/cli#4801."""
        hub = self._hub
        if not hub.options.enterprise and not hub.limits.may_create(self._call.actor):
            raise RefusedQuery("UNPROCESSABLE", "was submitted too quickly")

    def _rest(
        self, act: Callable[[Call], Answer], repository: Repository, body: Json, params: dict[str, str] | None = None
    ) -> Json:
        """Do as REST does; what that refuses is an error of GraphQL."""
        try:
            made: Json = act(replace(self._call, found=repository, body=body, params=params or {})).body
        except Refusal as refusal:
            said = [flaw["message"] for flaw in refusal.extra.get("errors", []) if "message" in flaw]
            raise RefusedQuery("UNPROCESSABLE", ", ".join(said) or refusal.message) from refusal
        return made

    @staticmethod
    def _payload(input: Json, **fields: Any) -> Json:
        return {**fields, "clientMutationId": input.get("clientMutationId")}


def _no_node(node: str) -> RefusedQuery:
    return RefusedQuery("NOT_FOUND", f"Could not resolve to a node with the global id of '{node}'.")
