"""What is asked of GitHub when somebody asks for something, in one query: what the repository is like, whether it has
settings of its own, and what was said in the thread.

The answers stand in for those of REST (`github.client.told`) for whoever is content with the age that this gives.
"""

from collections.abc import Mapping
from typing import Any

from github.client.queries import QueryUnavailable
from github.client.repository import RepositoryHandle
from github.repositories.config import PATH
from github.repositories.prefetch import FACTS_FIELDS, read_facts
from github.repositories.queries import COMMENTS, FACTS, SETTINGS, STEP

MOST = 100  # comments; a thread that has more is read by REST
_TALK = f"""comments(last: {MOST}) {{ pageInfo {{ hasPreviousPage }} nodes {{
  databaseId url body createdAt updatedAt viewerDidAuthor author {{ __typename login }} id
}} }}"""
QUERY = f"""query($owner: String!, $name: String!, $number: Int!, $settings: String!) {{
  repository(owner: $owner, name: $name) {{
    databaseId {FACTS_FIELDS} settings: object(expression: $settings) {{ oid }}
    issueOrPullRequest(number: $number) {{ ... on Issue {{ {_TALK} }} ... on PullRequest {{ {_TALK} }} }}
  }}
}}"""


async def prefetch_request(repository: RepositoryHandle, number: int) -> float:
    """Ask for all of that about the thread `number`.

    Gives the `max_age` with which this step asks for each; 0 where a query is not to be had, and each asks for itself.
    """
    try:
        found = await repository.query(QUERY, {"number": number, "settings": f"HEAD:{PATH}"})
    except QueryUnavailable:
        return 0.0
    told = repository.app.told
    if (facts := read_facts(found)) is not None:
        told.put(repository.id, FACTS, "", facts)
    told.forget(repository.id, SETTINGS, "")
    if found.get("settings") is None:
        told.put(repository.id, SETTINGS, "", None)
    comments = (found.get("issueOrPullRequest") or {}).get("comments") or {}
    told.forget(repository.id, COMMENTS, str(number))
    if not (comments.get("pageInfo") or {}).get("hasPreviousPage", True):
        me = repository.app.app_id
        told.put(repository.id, COMMENTS, str(number), [_comment(each, me) for each in comments.get("nodes") or ()])
    return STEP


def _comment(found: Mapping[str, Any], app_id: int) -> dict[str, Any]:
    """A comment as REST lists it. Bots go by their names without the suffix here."""
    author = found.get("author") or {}
    bot = "[bot]" if author.get("__typename") == "Bot" else ""
    return {
        "id": found["databaseId"],
        "node_id": found.get("id"),
        "html_url": found.get("url"),
        "body": found.get("body"),
        "created_at": found.get("createdAt"),
        "updated_at": found.get("updatedAt"),
        "user": {"login": f"{author['login']}{bot}"} if author.get("login") else None,
        "performed_via_github_app": {"id": app_id} if found.get("viewerDidAuthor") else None,
    }
