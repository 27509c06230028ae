"""Reviews of our pull requests: the threads they opened, an answer in each, and resolving one when its turn landed."""

import math
from collections.abc import AsyncIterator
from dataclasses import dataclass
from typing import Any

from github.client.errors import NotFound
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from github.client.tokens import timestamp
from github.threads.comments import marked, marker

SENT_SECONDS = 10.0  # in which all of a review is stored

_THREADS = """query($owner: String!, $name: String!, $number: Int!, $after: String) {
  repository(owner: $owner, name: $name) { pullRequest(number: $number) {
    reviewThreads(first: 100, after: $after) {
      pageInfo { hasNextPage endCursor }
      nodes { id isResolved isOutdated comments(first: 1) { nodes { databaseId } } }
    }
  } }
}"""
_RESOLVE = """mutation($id: ID!) {
  resolveReviewThread(input: {threadId: $id}) { thread { isResolved } }
}"""


@dataclass(frozen=True, slots=True)
class Thread:
    """A review thread; `first_comment_id` is the comment that opened it (`Source.thread_id`)."""

    node_id: str
    first_comment_id: int
    resolved: bool
    outdated: bool


@dataclass(frozen=True, slots=True)
class Remark:
    """An inline comment of a review."""

    id: int
    thread_id: int
    path: str
    line: int
    body: str
    diff_hunk: str
    author: str
    url: str


async def remarks(
    repository: RepositoryHandle, number: int, review_id: int, submitted_at: str
) -> AsyncIterator[Remark]:
    """The inline comments that a review made, without those that were edited after it was submitted."""
    latest = timestamp(submitted_at) + SENT_SECONDS if submitted_at else math.inf
    async for each in repository.pages(f"pulls/{number}/reviews/{review_id}/comments"):
        if each.get("updated_at") and timestamp(each["updated_at"]) > latest:
            continue
        yield Remark(
            id=int(each["id"]),
            thread_id=int(each.get("in_reply_to_id") or each["id"]),
            path=str(each.get("path") or ""),
            line=int(each.get("line") or each.get("original_line") or 0),
            body=str(each.get("body") or ""),
            diff_hunk=str(each.get("diff_hunk") or ""),
            author=str((each.get("user") or {}).get("login") or ""),
            url=str(each.get("html_url") or ""),
        )


async def reply(repository: RepositoryHandle, number: int, thread_id: int, key: str, body: str) -> int:
    """Answer in the thread that comment `thread_id` opened; the id of the answer. `key` marks it, so that it is given
    once. Raises NotFound if the thread's first comment was deleted."""
    line = marker(key)
    async for each in repository.pages(f"pulls/{number}/comments", limit=5000):
        if each.get("in_reply_to_id") == thread_id and str(each.get("body") or "").startswith(line):
            return int(each["id"])
    path = f"pulls/{number}/comments/{thread_id}/replies"
    answer = await repository.request("POST", path, scope=Scope.TALK, json={"body": marked(key, body)})
    return int(answer.json()["id"])


async def threads(repository: RepositoryHandle, number: int) -> AsyncIterator[Thread]:
    """The review threads of a pull request. Only GraphQL knows them."""
    owner, name = (await repository.full_name()).split("/")
    after: str | None = None
    while True:
        variables: dict[str, Any] = {"owner": owner, "name": name, "number": number, "after": after}
        data = await repository.graphql(_THREADS, variables, scope=Scope.READ)
        pull = (data.get("repository") or {}).get("pullRequest") or {}
        found = pull.get("reviewThreads") or {}
        for node in found.get("nodes") or ():
            first = ((node.get("comments") or {}).get("nodes") or [{}])[0]
            yield Thread(
                str(node["id"]),
                int(first.get("databaseId") or 0),
                bool(node.get("isResolved")),
                bool(node.get("isOutdated")),
            )
        page = found.get("pageInfo") or {}
        if not page.get("hasNextPage"):
            return
        after = page.get("endCursor")


async def resolve(repository: RepositoryHandle, number: int, thread_id: int) -> bool:
    """Resolve the thread that comment `thread_id` opened; False if it is gone or was resolved already."""
    async for thread in threads(repository, number):
        if thread.first_comment_id == thread_id:
            if thread.resolved:
                return False
            try:
                await repository.graphql(_RESOLVE, {"id": thread.node_id}, scope=Scope.PUBLISH)
            except NotFound:
                return False
            return True
    return False
