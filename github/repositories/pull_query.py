"""A pull request as GraphQL tells it, read into the same value as by REST."""

from collections.abc import Mapping
from typing import Any

from github.repositories.queries import Pull

PULL = """
  number id url title body state isDraft merged mergeable mergeStateStatus maintainerCanModify
  author { __typename login ... on User { databaseId } ... on Bot { databaseId } }
  headRefName headRefOid headRepository { databaseId nameWithOwner }
  baseRefName baseRefOid baseRepository { databaseId } labels(first: 100) { nodes { name } }
"""
"""The fields of a pull request that `read_pull_node` reads."""


def read_pull_node(found: Mapping[str, Any]) -> Pull:
    """The pull request in an answer with the fields of `PULL`."""
    author, top = found.get("author") or {}, found.get("headRepository") or {}
    state = str(found.get("state") or "")
    bot = "[bot]" if author.get("__typename") == "Bot" else ""  # which GraphQL leaves out
    return Pull(
        number=int(found["number"]),
        node_id=str(found.get("id") or ""),
        url=str(found.get("url") or ""),
        title=str(found.get("title") or ""),
        body=str(found.get("body") or ""),
        state="open" if state == "OPEN" else "closed",
        draft=bool(found.get("isDraft")),
        merged=bool(found.get("merged")),
        mergeable={"MERGEABLE": True, "CONFLICTING": False}.get(str(found.get("mergeable"))),
        mergeable_state=str(found.get("mergeStateStatus") or "unknown").lower(),
        author=f"{author['login']}{bot}" if author.get("login") else "",
        author_id=int(author.get("databaseId") or 0),
        head_ref=str(found.get("headRefName") or ""),
        head_sha=str(found.get("headRefOid") or ""),
        head_repository_id=int(top.get("databaseId") or 0),
        head_full_name=str(top.get("nameWithOwner") or ""),
        base_ref=str(found.get("baseRefName") or ""),
        base_sha=str(found.get("baseRefOid") or ""),
        base_repository_id=int((found.get("baseRepository") or {}).get("databaseId") or 0),
        labels=tuple(str(each.get("name") or "") for each in (found.get("labels") or {}).get("nodes") or ()),
        maintainer_can_modify=bool(found.get("maintainerCanModify")),
    )
