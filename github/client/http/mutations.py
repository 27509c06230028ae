"""What a GraphQL request does. All are a POST to one path, so that only their text tells."""

import json
import re

import httpx

_MUTATION = re.compile(r"\s*mutation\b")
_CREATES = re.compile(
    r"\b(?:add\w*(?:Comment|Review|Thread|Reply)|create(?:Issue|PullRequest|Discussion)|submitPullRequestReview)\s*\("
)


def mutation_of(request: httpx.Request) -> str:
    """The text of the mutation that a request is; "" for a GraphQL query, and for REST."""
    if request.method != "POST" or not request.url.path.endswith("/graphql"):
        return ""
    text = str(json.loads(request.content).get("query") or "")
    return text if _MUTATION.match(text) else ""


def changes(request: httpx.Request) -> bool:
    """Whether a request may change something."""
    if request.url.path.endswith("/graphql"):
        return bool(mutation_of(request))
    return request.method != "GET"


def creates(mutation: str) -> bool:
    """Whether a mutation makes what people read: a comment, a review, an issue, a pull request."""
    return _CREATES.search(mutation) is not None
