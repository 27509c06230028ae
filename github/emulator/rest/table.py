"""All REST routes in one table."""

from github.emulator.api.route import Table
from github.emulator.rest import apps, comments, hooks, issues, repos, users

FAMILIES = (apps, hooks, repos, users, issues, comments)


def table() -> Table:
    return Table(route for family in FAMILIES for route in family.ROUTES)
