import json
from typing import Any

import pytest

from github.client import errors
from github.client.http.answers import error_of

NOW = 1_000_000.0


def error(status: int, body: Any, **headers: str) -> errors.GitHubError:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    text = body if isinstance(body, bytes) else json.dumps(body).encode()
    return error_of("POST repos/o/r/x", status, named, text, NOW)


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (401, {"message": "Bad credentials"}, errors.Unauthorized),
        (403, {"message": "Resource not accessible by integration"}, errors.PermissionMissing),
        (403, {"message": "This installation has been suspended"}, errors.InstallationSuspended),
        (403, {"message": "Repository was archived so is read-only."}, errors.RepositoryArchived),
        (403, {"message": "Must have admin rights"}, errors.Forbidden),
        (404, {"message": "Not Found"}, errors.NotFound),
        (403, {"message": "Unable to create comment because issue is locked."}, errors.Locked),
        (406, {"message": "Sorry, the diff exceeded the maximum number of lines (20000)"}, errors.AnswerTooLarge),
        (409, {"message": "Git Repository is empty."}, errors.EmptyRepository),
        (409, {"message": "Merge conflict"}, errors.Conflict),
        (410, {"message": "Issues are disabled for this repo"}, errors.Gone),
        (422, {"message": "Reference already exists"}, errors.AlreadyExists),
        (422, {"message": "Update is not a fast forward"}, errors.NotFastForward),
        (422, {"message": "Reference update failed"}, errors.NotVisibleYet),
        (422, {"message": "Reference does not exist"}, errors.NotVisibleYet),
        (422, {"message": "Object does not exist"}, errors.NotVisibleYet),
        (422, {"message": "Tree SHA does not exist"}, errors.NotVisibleYet),
        (422, {"message": "No commit found for SHA: 1234567"}, errors.NotVisibleYet),
        (422, {"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}]}, errors.NotVisibleYet),
        (
            422,
            {"message": "Validation Failed", "errors": [{"message": "No commits between main and greenloop/1-x"}]},
            errors.NotVisibleYet,
        ),
        (422, {"message": "Validation Failed", "errors": [{"field": "base", "code": "invalid"}]}, errors.Invalid),
        (
            422,
            {"message": "Validation Failed", "errors": [{"message": "A pull request already exists for o:b."}]},
            errors.AlreadyExists,
        ),
        (422, {"message": "Validation Failed", "errors": [{"code": "already_exists"}]}, errors.AlreadyExists),
        (
            422,
            {"message": "Repository rule violations found\n\nCannot update this protected ref."},
            errors.RuleViolation,
        ),
        (422, {"message": "Protected branch update failed for refs/heads/x."}, errors.RuleViolation),
        (
            422,
            {"message": "refusing to allow a GitHub App to create or update workflow without `workflows` permission"},
            errors.WorkflowsPermissionMissing,
        ),
        (
            422,
            {"message": "The permissions requested are not granted to this installation."},
            errors.PermissionMissing,
        ),
        (422, {"message": "Validation Failed", "errors": ["something"]}, errors.Invalid),
        (400, {"message": "Problems parsing JSON"}, errors.Invalid),
        (500, {"message": "Server Error"}, errors.ServerFault),
        (502, b"<html>Bad gateway</html>", errors.ServerFault),
        (418, b"", errors.GitHubError),
    ],
)
def test_each_refusal_of_github_has_its_name(status: int, body: Any, kind: type[errors.GitHubError]) -> None:
    found = error(status, body)
    assert type(found) is kind
    assert "POST repos/o/r/x" in str(found)
    assert str(status) in str(found)
    assert found.status == status


def test_a_validation_error_tells_its_reasons() -> None:
    found = error(422, {"message": "Validation Failed", "errors": [{"field": "head", "code": "invalid"}, "text"]})
    assert isinstance(found, errors.Invalid)
    assert [each.field for each in found.errors] == ["head", ""]
    assert "head is invalid; text" in str(found)


def test_a_missing_permission_names_the_permission() -> None:
    found = error(
        403, {"message": "Resource not accessible by integration"}, x_accepted_github_permissions="checks=write"
    )
    assert isinstance(found, errors.PermissionMissing)
    assert found.needed == "checks=write"
    assert "the App needs checks=write" in str(found)


@pytest.mark.parametrize(
    ("status", "message", "headers", "retry_at", "secondary"),
    [
        (
            403,
            "API rate limit exceeded for installation ID 5.",
            {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1000900"},
            1_000_900,
            False,
        ),
        (
            429,
            "API rate limit exceeded",
            {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "1000900"},
            1_000_900,
            False,
        ),
        (403, "API rate limit exceeded", {"x_ratelimit_remaining": "0", "x_ratelimit_reset": "5"}, NOW + 1, False),
        (403, "You have exceeded a secondary rate limit.", {"retry_after": "30"}, NOW + 30, True),
        (403, "You have exceeded a secondary rate limit.", {}, NOW + 60, True),
        (429, "Too many requests", {}, NOW + 60, True),
        (403, "You have triggered an abuse detection mechanism", {"retry_after": "x"}, NOW + 60, True),
        (422, "Validation failed, or the endpoint has been spammed.", {}, NOW + 60, True),
        (422, "was submitted too quickly", {}, NOW + 60, True),
    ],
)
def test_every_form_of_a_limit_says_when_it_ends(
    status: int, message: str, headers: dict[str, str], retry_at: float, secondary: bool
) -> None:
    found = error(status, {"message": message}, **headers)
    assert isinstance(found, errors.RateLimited)
    assert (found.retry_at, found.secondary) == (retry_at, secondary)


def test_a_missing_permission_with_the_last_request_of_the_hour_is_no_limit() -> None:
    found = error(403, {"message": "Resource not accessible by integration"}, x_ratelimit_remaining="0")
    assert isinstance(found, errors.PermissionMissing)


@pytest.mark.parametrize(
    "body", [b"", b"[1]", b"\xff\xfe", b'{"message": null, "errors": {"a": 1}}', b'{"errors": [null]}']
)
def test_whatever_the_body_is_there_is_an_error_and_no_crash(body: bytes) -> None:
    for status in (400, 403, 404, 409, 422, 429, 500):
        assert isinstance(error(status, body), errors.GitHubError)
