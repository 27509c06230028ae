"""How long it makes sense to try again after an error of GitHub's: which pass by waiting, and which somebody must mend.

GitHub is eventually consistent. What was made a moment ago may be missing from its next answers for some seconds, so an
answer that something is not there is believed only after `LATE_TRIES`.
"""

from github.client import errors

PERMANENT = (
    errors.InstallationSuspended,
    errors.RepositoryArchived,
    errors.PermissionMissing,
    errors.RuleViolation,
    errors.RefusedBranch,
    errors.Gone,
)
"""Somebody has to change something."""
LATE = (errors.NotFound, errors.NotVisibleYet)
"""It may be there in a moment."""

PERMANENT_TRIES = 4  # permissions and rules that were changed a moment ago are late too
LATE_TRIES = 8  # with waits that begin at a second and double, two minutes


def most_tries(error: Exception, otherwise: int) -> int:
    """How often what met `error` is tried before it counts as final; `otherwise` is for an outage."""
    if isinstance(error, LATE):
        return LATE_TRIES
    return PERMANENT_TRIES if isinstance(error, PERMANENT) else otherwise
