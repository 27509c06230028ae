"""What only GraphQL can do: drafts, threads, hidden comments, reactions on reviews. It always answers 200."""

from typing import Any

import pytest

from github.emulator.store.users import User
from tests.github.emulator.house import REPO, House

DRAFT = "mutation($id: ID!) { %s(input: {pullRequestId: $id}) { pullRequest { number isDraft } } }"
RESOLVE = "mutation($id: ID!) { %s(input: {threadId: $id}) { thread { isResolved } } }"
REPLY = """mutation($id: ID!) {
  addPullRequestReviewThreadReply(input: {pullRequestReviewThreadId: $id, body: "Done"}) { comment { databaseId body } }
}"""
MINIMIZE = """mutation($id: ID!) {
  minimizeComment(input: {subjectId: $id, classifier: OUTDATED}) { minimizedComment { isMinimized minimizedReason } }
}"""
REACT = "mutation($id: ID!) { addReaction(input: {subjectId: $id, content: EYES}) { reaction { content } } }"
THREADS = """query {
  repository(owner: "acme", name: "widgets") { pullRequest(number: %d) { isDraft reviewThreads(first: 1) {
    totalCount pageInfo { hasNextPage endCursor }
    nodes { id isResolved isOutdated comments(first: 1) { nodes { databaseId body } } }
  } } }
}"""


async def graphql(house: House, who: User | str, query: str, **variables: Any) -> Any:
    """The `data`, or the errors where there are any."""
    answer = await house.ask("POST", "/graphql", who, json={"query": query, "variables": variables})
    assert answer.status_code == 200, answer.text
    body = answer.json()
    return [(each.get("type"), each["message"]) for each in body["errors"]] if "errors" in body else body["data"]


@pytest.fixture
async def pull(house: House) -> dict[str, Any]:
    """A draft pull request by the App."""
    token = await house.token()
    await house.commit(token, "topic", {"a.txt": "one\n2\nthree\n"}, base="main")
    body = {"title": "T", "head": "topic", "base": "main", "draft": True}
    found: dict[str, Any] = (await house.ask("POST", f"{REPO}/pulls", token, json=body)).json()
    return found


@pytest.fixture
async def review(house: House, pull: dict[str, Any]) -> dict[str, Any]:
    """Carol's review with two comments on lines."""
    remarks = [{"path": "a.txt", "line": 2, "body": text} for text in ("Why?", "And this?")]
    body = {"event": "REQUEST_CHANGES", "body": "No", "comments": remarks}
    answer = await house.ask("POST", f"{REPO}/pulls/{pull['number']}/reviews", house.carol, json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def test_a_draft_is_made_ready_and_a_draft_again_each_once(house: House, pull: dict[str, Any]) -> None:
    token, node = await house.token(), pull["node_id"]
    ready, draft = DRAFT % "markPullRequestReadyForReview", DRAFT % "convertPullRequestToDraft"
    assert (await graphql(house, token, draft, id=node)) == [("UNPROCESSABLE", "Pull request is already a draft")]
    made = await graphql(house, token, ready, id=node)
    assert made["markPullRequestReadyForReview"]["pullRequest"] == {"number": pull["number"], "isDraft": False}
    assert (await graphql(house, token, ready, id=node)) == [("UNPROCESSABLE", "Pull request is not a draft")]
    assert not (await house.ask("GET", f"{REPO}/pulls/{pull['number']}", token)).json()["draft"]
    assert (await graphql(house, house.carol, draft, id=node))["convertPullRequestToDraft"]["pullRequest"]["isDraft"]


async def test_who_may_not_write_is_forbidden_and_an_unknown_node_is_not_found(
    house: House, pull: dict[str, Any]
) -> None:
    ready = DRAFT % "markPullRequestReadyForReview"
    reading = await house.token(permissions={"pull_requests": "read"})
    for who in (house.bob, reading):
        assert (await graphql(house, who, ready, id=pull["node_id"]))[0][0] == "FORBIDDEN"
    stranger = house.local.add_user("dave")
    for who, node in ((house.carol, "PR_nothing"), (stranger, pull["node_id"])):
        ((kind, message),) = await graphql(house, who, ready, id=node)
        assert (kind, node in message) == ("NOT_FOUND", True)
    assert (await graphql(house, stranger, THREADS % 1))[0][0] == "NOT_FOUND"
    ((_, message),) = await graphql(house, house.carol, "query { nothing }")
    assert message == "Field 'nothing' doesn't exist on type 'Query'"


async def test_threads_are_listed_page_by_page_answered_and_resolved(
    house: House, pull: dict[str, Any], review: dict[str, Any]
) -> None:
    token = await house.token()
    found = (await graphql(house, token, THREADS % pull["number"]))["repository"]["pullRequest"]["reviewThreads"]
    assert (found["totalCount"], found["pageInfo"]["hasNextPage"], len(found["nodes"])) == (2, True, 1)
    thread = found["nodes"][0]
    assert (thread["isResolved"], thread["comments"]["nodes"][0]["body"]) == (False, "Why?")
    said = await graphql(house, token, REPLY, id=thread["id"])
    comments = (await house.ask("GET", f"{REPO}/pulls/{pull['number']}/comments", token)).json()
    answer = next(each for each in comments if each["body"] == "Done")
    assert said["addPullRequestReviewThreadReply"]["comment"]["databaseId"] == answer["id"]
    assert answer["in_reply_to_id"] == thread["comments"]["nodes"][0]["databaseId"]
    for name, resolved in (("resolveReviewThread", True), ("unresolveReviewThread", False)):
        assert (await graphql(house, token, RESOLVE % name, id=thread["id"]))[name]["thread"]["isResolved"] is resolved
    assert (await graphql(house, house.bob, RESOLVE % "resolveReviewThread", id=thread["id"]))[0][0] == "FORBIDDEN"


async def test_comments_are_hidden_and_reacted_to_also_those_of_reviews(
    house: House, pull: dict[str, Any], review: dict[str, Any]
) -> None:
    token, number = await house.token(), pull["number"]
    comment = (await house.ask("POST", f"{REPO}/issues/{number}/comments", token, json={"body": "x"})).json()
    remark = (await house.ask("GET", f"{REPO}/pulls/{number}/comments", token)).json()[0]
    hidden = (await graphql(house, token, MINIMIZE, id=comment["node_id"]))["minimizeComment"]["minimizedComment"]
    assert hidden == {"isMinimized": True, "minimizedReason": "outdated"}
    for node in (comment["node_id"], remark["node_id"], review["node_id"]):
        for _ in range(2):
            made = await graphql(house, token, REACT, id=node)
            assert made["addReaction"]["reaction"] == {"content": "EYES"}
    for path in (f"issues/comments/{comment['id']}", f"pulls/comments/{remark['id']}"):
        reactions = (await house.ask("GET", f"{REPO}/{path}/reactions", token)).json()
        assert [each["content"] for each in reactions] == ["eyes"]
    (row,) = house.local.store.reviews.__iter__()
    assert [each.content for each in row.reactions] == ["eyes"]
    reading = await house.token(permissions={"pull_requests": "read"})
    assert (await graphql(house, reading, REACT, id=review["node_id"]))[0][0] == "FORBIDDEN"


async def test_a_newcomers_client_learns_who_it_is_what_is_left_and_what_the_checks_came_to(
    house: House, pull: dict[str, Any]
) -> None:
    await house.local.idle()
    token = await house.token()
    body = {"state": "failure", "context": "other"}
    await house.ask("POST", f"{REPO}/statuses/{pull['head']['sha']}", house.carol, json=body)
    found = await graphql(house, token, "{ viewer { login databaseId } rateLimit { limit remaining } }")
    assert (
        found["viewer"]["login"] == "greenloop[bot]" and found["rateLimit"]["remaining"] < found["rateLimit"]["limit"]
    )
    rollup = """{ repository(owner: "acme", name: "widgets") { pullRequest(number: %d) { state headRefOid
      commits(last: 1) { nodes { commit { oid statusCheckRollup { state contexts(first: 10) { totalCount nodes {
        ... on CheckRun { name conclusion } ... on StatusContext { context state }
    } } } } } } } } }"""
    shown = (await graphql(house, token, rollup % pull["number"]))["repository"]["pullRequest"]
    [node] = shown["commits"]["nodes"]
    assert shown["headRefOid"] == node["commit"]["oid"] == pull["head"]["sha"]
    checks = node["commit"]["statusCheckRollup"]
    assert checks["state"] == "FAILURE"
    assert {"name": "test", "conclusion": "SUCCESS"} in checks["contexts"]["nodes"]
    assert {"context": "other", "state": "FAILURE"} in checks["contexts"]["nodes"]


async def test_inputs_have_the_names_that_github_gives_them(house: House, pull: dict[str, Any]) -> None:
    query = """mutation($input: MarkPullRequestReadyForReviewInput!) {
      markPullRequestReadyForReview(input: $input) { pullRequest { isDraft } } }"""
    found = await graphql(house, await house.token(), query, input={"pullRequestId": pull["node_id"]})
    assert found["markPullRequestReadyForReview"]["pullRequest"] == {"isDraft": False}


@pytest.mark.parametrize(
    ("mutation", "given"),
    [
        ("createPullRequest", {"baseRefName": "main", "headRefName": "topic", "title": "t"}),
        ("createIssue", {"title": "t"}),
        ("addComment", {"body": "b"}),
        ("closePullRequest", {}),
        ("closeIssue", {}),
    ],
)
async def test_who_may_not_write_makes_and_closes_nothing(
    house: House, pull: dict[str, Any], mutation: str, given: dict[str, str]
) -> None:
    token = await house.token(permissions={"contents": "read", "pull_requests": "read", "issues": "read"})
    issue = (await house.ask("POST", f"{REPO}/issues", house.carol, json={"title": "t"})).json()
    ids = {
        "createPullRequest": {"repositoryId": pull["base"]["repo"]["node_id"]},
        "createIssue": {"repositoryId": pull["base"]["repo"]["node_id"]},
        "addComment": {"subjectId": issue["node_id"]},
        "closePullRequest": {"pullRequestId": pull["node_id"]},
        "closeIssue": {"issueId": issue["node_id"]},
    }
    kind = mutation[0].upper() + mutation[1:]
    query = f"mutation($input: {kind}Input!) {{ {mutation}(input: $input) {{ clientMutationId }} }}"
    asked = ids[mutation] | given
    stranger = house.local.add_user("stranger")
    assert (await graphql(house, token, query, input=asked))[0][0] == "FORBIDDEN"
    assert (await graphql(house, stranger, query, input=asked))[0][0] == "NOT_FOUND"
    states = (await house.ask("GET", f"{REPO}/issues?state=all", house.carol)).json()
    assert [(row["state"], row["comments"]) for row in states] == [("open", 0), ("open", 0)]


PULLS = 'repository(owner: "acme", name: "widgets") { pullRequests%s { totalCount %s } }'


@pytest.mark.parametrize(
    ("query", "kind"),
    [
        ("{ %s }" % (PULLS % ("", "nodes { number }")), "MISSING_PAGINATION_BOUNDARIES"),
        ("{ %s }" % (PULLS % ("(first: 101)", "nodes { number }")), "EXCESSIVE_PAGINATION"),
        ("query($n: Int = 101) { %s }" % (PULLS % ("(last: $n)", "nodes { number }")), "EXCESSIVE_PAGINATION"),
        (
            "{ %s }"
            % (
                PULLS
                % (
                    "(first: 100)",
                    "nodes { commits(first: 100) { nodes { commit { checkSuites(first: 100) { nodes { id } } } } } }",
                )
            ),
            "MAX_NODE_LIMIT_EXCEEDED",
        ),
        ("{ %s }" % (PULLS % ("", "")), None),
        ("query($n: Int = 100) { %s }" % (PULLS % ("(last: $n)", "nodes { number }")), None),
    ],
)
async def test_a_query_is_refused_that_asks_for_more_nodes_than_github_gives(
    house: House, query: str, kind: str | None
) -> None:
    found = await graphql(house, await house.token(), query)
    assert (found[0][0] if isinstance(found, list) else None) == kind


@pytest.mark.parametrize(
    ("missing", "field"),
    [
        ("checks", "checkSuites(first: 1) { totalCount }"),
        ("statuses", "status { state }"),
    ],
)
async def test_a_token_reads_of_a_commit_what_its_permissions_cover(house: House, missing: str, field: str) -> None:
    held = {"contents": "read", "checks": "read", "statuses": "read", "metadata": "read"}
    query = """{ repository(owner: "acme", name: "widgets") { object(expression: "main") {
      ... on Commit { oid tree { entries { name } } %s } } } }"""
    token = await house.token(permissions=held)
    shown = (await graphql(house, token, query % field))["repository"]["object"]
    assert {each["name"] for each in shown["tree"]["entries"]} >= {"a.txt"}
    without = await house.token(permissions={name: level for name, level in held.items() if name != missing})
    assert (await graphql(house, without, query % field))[0] == ("FORBIDDEN", "Resource not accessible by integration")
