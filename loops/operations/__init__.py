"""What every surface can do with sessions: start one, look at it, cancel it. The same for HTTP, command line and MCP.

Every function works in the caller's transaction and within one tenant, the id of an installation: what belongs to
another does not exist. Times are UNIX seconds.
"""

from loops.operations.change import Cancelled, Started, StartRequest, cancel, start
from loops.operations.finding import Invalid, Unknown, find_repository, tenant_of
from loops.operations.view import Brief, Shown, get, list_sessions

__all__ = [
    "Brief",
    "Cancelled",
    "Invalid",
    "Shown",
    "StartRequest",
    "Started",
    "Unknown",
    "cancel",
    "find_repository",
    "get",
    "list_sessions",
    "start",
    "tenant_of",
]
