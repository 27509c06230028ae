"""The suite itself: it notices what differs, touches nothing that it did not make, and takes away what it made."""

from typing import Any

import pytest

from tests.github.contract.exchange import Absent, Exchange, Has, Length, Like, Story, flaws
from tests.github.contract.facts import stories
from tests.github.contract.harm import HarmfulRequest, refuse
from tests.github.contract.target import Target


def differences(fields: dict[str, Any], body: Any, status: int = 200, **known: Any) -> list[str]:
    return flaws(Exchange("", "GET", "", 200, fields=fields), status, {}, body, known)


@pytest.mark.parametrize(
    ("wanted", "right", "wrong"),
    [
        ("a", "a", "b"),
        (1, 1, True),
        (int, 1, True),
        (bool, False, 0),
        (None, None, ""),
        (Like(r"v\d+"), "v12", "v12x"),
        (Like(r"<base>\.git"), "a+b.git", "aab.git"),
        (Has("x"), ["x"], ["y"]),
        (Has("x"), "yx", None),
        (Length(1), ["x"], []),
        (Length(2, least=True), [1, 2, 3], [1]),
        ("<base>", "a+b", "<base>"),
    ],
)
def test_a_field_is_what_was_said_or_it_is_told(wanted: Any, right: Any, wrong: Any) -> None:
    assert differences({"x.0.y": wanted}, {"x": [{"y": right}]}, base="a+b") == []
    assert len(differences({"x.0.y": wanted}, {"x": [{"y": wrong}]}, base="a+b")) == 1
    assert len(differences({"x.0.y": wanted}, {"x": []}, base="a+b")) == 1


def test_a_field_that_must_not_be_there_and_a_status_are_told_too() -> None:
    assert differences({"x": Absent}, {}) == []
    assert len(differences({"x": Absent}, {"x": None}, status=404)) == 2


@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("PATCH", "/repos/o/r/git/refs/heads/main", {"sha": "0"}),
        ("DELETE", "/repos/o/r/git/refs/heads/other", None),
        ("POST", "/repos/o/r/git/refs", {"ref": "refs/heads/main"}),
        ("PUT", "/repos/o/r/contents/a.txt", {"content": ""}),
        ("PUT", "/repos/o/r/contents/a.txt", {"branch": "main"}),
        ("PUT", "/repos/o/r/pulls/1/merge", None),
        ("POST", "/repos/o/r/merges", {"base": "c/x"}),
        ("PATCH", "/repos/o/r", {"archived": True}),
        ("DELETE", "/repos/o/r", None),
        ("POST", "/repos/o/else/issues", {"title": "x"}),
        ("POST", "/repositories/1/issues", {"title": "x"}),
        ("POST", "/repos/o/r/actions/workflows/1/dispatches", {"ref": "main"}),
        ("POST", "/graphql", {"query": "mutation($b: ID!) { mergePullRequest(input: {pullRequestId: $b}) { id } }"}),
        ("POST", "/graphql", {"query": "mutation { addComment(input: {}) { id } createCommitOnBranch { id } }"}),
        ("POST", "/graphql", {"query": "mutation { ...f } fragment f on Mutation { deleteRef { id } }"}),
    ],
)
def test_what_would_harm_a_repository_is_never_asked(method: str, path: str, body: Any) -> None:
    with pytest.raises(HarmfulRequest):
        refuse(method, path, body, "o/r", "c/")


def test_what_was_made_is_taken_away_and_what_was_there_stays(target: Target) -> None:
    if target.real:
        pytest.skip("a real GitHub is looked at once, at the end")
    caller = "person"
    made = Target(target.api_url, target.repository, target.tokens)
    base, headers = f"/repos/{made.repository}", {"Authorization": f"Bearer {made.tokens[caller]}"}

    def there(path: str) -> list[Any]:
        return [row.get("number") for row in made.http.get(f"{base}/{path}", headers=headers).json()]

    opened, branches = "issues?state=open&per_page=100", f"git/matching-refs/heads/{made.prefix}"
    before = there(opened)
    for name in ("a pull request is reviewed", "a conversation is locked", "an issue has labels"):
        [story] = [each for each in stories() if each.name == name]
        made.tell(Story(name, story.exchanges[: -1 if "reviewed" in name else None]), caller)
    assert len(there(opened)) == len(before) + 3
    assert there(branches) != []
    made.clean()
    assert (there(opened), there(branches)) == (before, [])
    assert made.default_head() == made.default_sha
    made.http.close()
