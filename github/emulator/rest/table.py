"""All REST routes in one table."""

from github.emulator.api.route import Table
from github.emulator.rest import (
    actions,
    apps,
    branches,
    checks,
    comments,
    commits,
    contents,
    graphql,
    hooks,
    issues,
    manifests,
    objects,
    people,
    pulls,
    refs,
    repos,
    reviews,
    statuses,
    users,
)

FAMILIES = (
    apps,
    hooks,
    repos,
    users,
    people,
    issues,
    manifests,
    comments,
    pulls,
    reviews,
    objects,
    refs,
    branches,
    commits,
    contents,
    checks,
    statuses,
    actions,
    graphql,
)


def table() -> Table:
    return Table(route for family in FAMILIES for route in family.ROUTES)
