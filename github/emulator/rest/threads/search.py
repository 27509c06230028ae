"""Search for issues and pull requests, in the part of GitHub's language that clients use."""

import shlex
from typing import Any

from github.emulator.api.access import sees
from github.emulator.api.call import Call, Listing
from github.emulator.api.route import Route
from github.emulator.errors import invalid
from github.emulator.store.issues import Issue
from github.emulator.views import issues as views


def _fits(issue: Issue, key: str, value: str) -> bool:
    """Whether an issue is as one qualifier says. Raises KeyError for a qualifier that is not known here."""
    pull, user = issue.pull, issue.user
    tests: dict[str, Any] = {
        "repo": lambda: issue.repository.full_name.lower() == value,
        "user": lambda: issue.repository.owner.login.lower() == value,
        "org": lambda: issue.repository.owner.login.lower() == value,
        "type": lambda: (pull is not None) is (value == "pr"),
        "state": lambda: issue.state == value,
        "author": lambda: user is not None and user.login.lower().removesuffix("[bot]") == value.removeprefix("app/"),
        "assignee": lambda: value in [each.login.lower() for each in issue.assignees],
        "label": lambda: value in [label.name.lower() for label in issue.labels],
        "head": lambda: pull is not None and pull.head_ref.lower() == value,
        "base": lambda: pull is not None and pull.base_ref.lower() == value,
        "draft": lambda: pull is not None and pull.draft is (value == "true"),
        "is": lambda: {
            "issue": pull is None,
            "pr": pull is not None,
            "open": issue.state == "open",
            "closed": issue.state == "closed",
            "merged": pull is not None and pull.merged_at is not None,
            "unmerged": pull is not None and pull.merged_at is None,
            "draft": pull is not None and pull.draft,
            "locked": issue.locked,
        }[value],
    }
    return bool(tests[key]())


def issues(call: Call) -> Listing:
    """Best first: here the newest. A term without a qualifier stands in the title or the text."""
    try:
        terms = shlex.split(call.query.get("q", ""))
    except ValueError:
        terms = []
    if not terms:
        raise invalid("Search", "q", "missing")
    rows = [row for row in call.store.issues if not row.deleted and sees(call, row.repository)]
    for term in terms:
        negative, text = term.startswith("-"), term.removeprefix("-").lower()
        key, colon, value = text.partition(":")
        try:
            if colon:
                rows = [row for row in rows if _fits(row, key, value) is not negative]
            else:
                rows = [row for row in rows if (text in f"{row.title} {row.body}".lower()) is not negative]
        except KeyError:
            raise invalid("Search", "q", "invalid", f"the local GitHub does not know {term!r}") from None
    about = {"incomplete_results": False, "search_type": "lexical"}
    return Listing(rows[::-1], lambda row: _shown(call, row), "items", about)


def _shown(call: Call, row: Issue) -> dict[str, Any]:
    """`issue-search-result-item`, where a text that is missing is left out."""
    body = views.issue(call.store, row) | {"score": 1.0}
    return {key: value for key, value in body.items() if key != "body" or value is not None}


ROUTES = [Route("GET", "/search/issues", issues, "none")]
