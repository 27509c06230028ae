"""Errors of GitHub's that do not pass by waiting: somebody has to change something."""

from github.client import errors

PERMANENT = (
    errors.InstallationSuspended,
    errors.RepositoryArchived,
    errors.PermissionMissing,
    errors.RuleViolation,
    errors.RefusedBranch,
    errors.NotFound,
    errors.Gone,
)
