import pytest

from github.client.scopes import CLONE, Scope, allows, permissions_for

EVERYTHING = {
    "actions": "write",
    "checks": "write",
    "contents": "write",
    "issues": "write",
    "metadata": "read",
    "pull_requests": "write",
    "statuses": "read",
    "workflows": "write",
}


def test_reading_asks_for_no_write_permission() -> None:
    assert set(permissions_for(Scope.READ, EVERYTHING).values()) == {"read"}
    assert set(CLONE.values()) == {"read"}


def test_only_publishing_may_write_contents() -> None:
    writers = [scope for scope in Scope if permissions_for(scope, EVERYTHING).get("contents") == "write"]
    assert writers == [Scope.PUBLISH]


def test_nothing_is_asked_for_that_was_not_accepted() -> None:
    assert permissions_for(Scope.TALK, {"issues": "read", "metadata": "read"}) == {"issues": "read", "metadata": "read"}
    assert permissions_for(Scope.READ, {"contents": "write"}) == {"contents": "read"}
    assert permissions_for(Scope.PUBLISH, {}) == {}


@pytest.mark.parametrize(
    ("needed", "held", "answer"),
    [
        ("", {}, True),
        ("contents=write", {"contents": "write"}, True),
        ("contents=write", {"contents": "read"}, False),
        ("contents=read", {"contents": "write"}, True),
        ("contents=write,workflows=write", {"contents": "write"}, False),
        ("contents=write; contents=write,workflows=write", {"contents": "write"}, True),
        ("issues=write; pull_requests=write", {"pull_requests": "write"}, True),
        ("administration=read", {"contents": "write"}, False),
    ],
)
def test_githubs_list_of_alternatives_is_understood(needed: str, held: dict[str, str], answer: bool) -> None:
    assert allows(needed, held) is answer
