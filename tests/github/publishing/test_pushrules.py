from typing import Any

import pytest

from github.publishing.pushrules import Push, broken

NEW, AGAIN = Push(exists=False), Push(exists=True)
BRANCH = "greenloop/7-add-a-page"


def pattern(kind: str, operator: str, text: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "ruleset_id": 1, "parameters": {"operator": operator, "pattern": text, **more}}


@pytest.mark.parametrize(
    ("rule", "push", "said"),
    [
        ({"type": "creation"}, NEW, "lets nobody create"),
        ({"type": "creation"}, AGAIN, ""),
        ({"type": "update"}, AGAIN, "nobody may push to it"),
        ({"type": "update"}, NEW, ""),
        ({"type": "pull_request"}, AGAIN, "through a pull request only"),
        ({"type": "required_status_checks"}, AGAIN, "whose checks have passed"),
        ({"type": "required_signatures"}, AGAIN, ""),
        ({"type": "non_fast_forward"}, AGAIN, ""),
        ({"type": "deletion"}, AGAIN, ""),
        (pattern("branch_name_pattern", "starts_with", "team/"), NEW, "start with `team/`"),
        (pattern("branch_name_pattern", "starts_with", "team/"), AGAIN, ""),
        (pattern("branch_name_pattern", "starts_with", "greenloop/"), NEW, ""),
        (pattern("branch_name_pattern", "starts_with", "greenloop/", negate=True), NEW, "do not start with"),
        (pattern("branch_name_pattern", "regex", r"^\w+/\d+-"), NEW, ""),
        (pattern("branch_name_pattern", "regex", r"^[a-z]+$"), NEW, "match"),
        (pattern("branch_name_pattern", "regex", r"\p{L}("), NEW, ""),
        (pattern("commit_author_email_pattern", "ends_with", "@acme.test"), Push(False, "bot@x"), "by `bot@x`"),
        (pattern("commit_author_email_pattern", "ends_with", "@acme.test"), NEW, ""),
        (pattern("commit_message_pattern", "starts_with", "JIRA-"), Push(False, "", "Add\n\nx"), "begins `Add`"),
        (pattern("commit_message_pattern", "contains", "JIRA-"), Push(False, "", "Add"), ""),
        (pattern("commit_message_pattern", "contains", "Add", negate=True), Push(False, "", "Add"), "do not contain"),
        ({"type": "something_new"}, AGAIN, ""),
    ],
)
def test_a_rule_says_what_it_has_against_a_push(rule: dict[str, Any], push: Push, said: str) -> None:
    found = broken([rule], BRANCH, push)
    assert bool(found) is bool(said)
    assert all(said in each.text for each in found)
