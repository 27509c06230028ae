"""All REST routes in one table."""

from github.emulator.api.route import Table
from github.emulator.rest import repos
from github.emulator.rest.accounts import apps, hooks, manifests, people, users
from github.emulator.rest.ci import artifacts, checks, runs, statuses, workflows
from github.emulator.rest.code import activity, branches, commits, contents, objects, refs
from github.emulator.rest.graphql import answer as graphql
from github.emulator.rest.threads import comments, issues, pulls, reviews, search

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
    search,
    objects,
    refs,
    branches,
    commits,
    contents,
    activity,
    checks,
    statuses,
    runs,
    workflows,
    artifacts,
    graphql,
)


def table() -> Table:
    return Table(route for family in FAMILIES for route in family.ROUTES)
