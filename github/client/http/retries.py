"""Which requests are sent again after a failure, and after how long: the decisions that githubkit asks for. Pure.

githubkit's own would send any POST again after a 5xx, so that comments and pull requests double, and would sleep inside
the process until a rate limit is over.
"""

import re
from datetime import timedelta

import httpx
from githubkit.exception import GitHubException, RequestError, RequestFailed
from githubkit.retry import RetryOption

from github.client.http.mutations import mutation_of

WAITS = (0.5, 1.5)  # seconds before the second and third try

# Connection never made, so nothing can have happened at the other end.
_NOT_SENT = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
# POSTs that may happen twice: what they make is named by its content, is there only once, or ends by itself.
_ONCE = re.compile(r"/(?:git/(?:blobs|trees|commits|refs)|merges|access_tokens|reactions|attempts)$")


def decide(error: GitHubException, tries: int) -> RetryOption:
    """Whether a request that failed with `error` is sent again, after `tries` earlier repetitions."""
    if tries < len(WAITS) and _passes(error):
        return RetryOption(True, timedelta(seconds=WAITS[tries]))
    return RetryOption(False)


def repeatable(request: httpx.Request) -> bool:
    """Whether the request may safely happen twice."""
    if request.method == "PATCH" and "/check-runs/" in request.url.path:
        return b'"annotations"' not in request.content  # GitHub adds them to those before
    if request.method != "POST":
        return True
    if request.url.path.endswith("/graphql"):
        return not mutation_of(request)
    return _ONCE.search(request.url.path) is not None


def _passes(error: GitHubException) -> bool:
    if isinstance(error, RequestFailed):
        return error.response.status_code >= 500 and repeatable(error.request)
    if isinstance(error, RequestError) and isinstance(error.exc, httpx.TransportError):
        return isinstance(error.exc, _NOT_SENT) or repeatable(error.exc.request)
    return False
