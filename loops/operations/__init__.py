"""What every surface can do with sessions: start one, look at it, try it again, cancel it. The same for HTTP,
command line and MCP.

Every function works in the caller's transaction and within one tenant, the id of an installation: what belongs to
another does not exist. Times are UNIX seconds.
"""

from loops.operations.change import Cancelled, Started, StartRequest, cancel, start
from loops.operations.finding import Invalid, Unknown, find_repository, named, tenant_of
from loops.operations.retry import NotAgain, Retried, RetryRequest, retry
from loops.operations.view import Brief, Happened, Listed, Listing, Shown, brief_of, get, happened, list_sessions

__all__ = [
    "Brief",
    "Cancelled",
    "Happened",
    "Invalid",
    "Listed",
    "Listing",
    "NotAgain",
    "Retried",
    "RetryRequest",
    "Shown",
    "StartRequest",
    "Started",
    "Unknown",
    "brief_of",
    "cancel",
    "find_repository",
    "get",
    "happened",
    "list_sessions",
    "named",
    "retry",
    "start",
    "tenant_of",
]
