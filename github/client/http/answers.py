"""From an HTTP answer that is no success to the error that says what to do about it. Pure.

GitHub's documented errors, plus the texts that it is known to send and does not document.
"""

import json
import re
from collections.abc import Mapping
from typing import Any

from github.client import errors
from github.client.errors import FieldError, GitHubError

SECONDARY_WAIT = 60.0  # seconds, where GitHub names none

_SECONDARY = re.compile(r"secondary rate limit|abuse|submitted too quickly|endpoint has been spammed", re.IGNORECASE)
_WORKFLOWS = re.compile(r"without `?workflows?`? (?:permission|scope)|refusing to allow a GitHub App", re.IGNORECASE)
_RULES = re.compile(
    r"rule violations?|protected branch|GH006|GH013|branch protection|restricted|required status check", re.IGNORECASE
)
# What GitHub says of a commit, a tree or a ref that it was given a moment ago and that this answer's replica lacks.
_NOT_VISIBLE = re.compile(
    r"no commits between|reference update failed|reference does not exist|no commit found for|"
    r"(?:object|tree sha|parent sha|sha|commit) does not exist",
    re.IGNORECASE,
)


def error_of(request: str, status: int, headers: Mapping[str, str], body: bytes, now: float) -> GitHubError:
    """The error for an answer with `status` >= 400. `request` is "METHOD path"; `now` is Unix time."""
    said, fields = _reading(body)
    text = f"{request}: GitHub answered {status}: {said or 'nothing'}"
    if status >= 500:
        return errors.ServerFault(f"{text}; its status page may say more", request=request, status=status)
    if limited := _limited(text, said, request, status, headers, now):
        return limited
    if _WORKFLOWS.search(said):
        return errors.WorkflowsPermissionMissing(
            f"{text}. Give the App the permission `workflows: write`, or leave .github/workflows/ as it is",
            needed="workflows=write",
            request=request,
            status=status,
        )
    if status in (400, 422):
        return _invalid(text, said, fields, request, status)
    if status == 403:
        return _forbidden(text, said, request, headers)
    if status == 409:
        conflict = errors.EmptyRepository if "empty" in said.lower() else errors.Conflict
        return conflict(text, request=request, status=status)
    kinds: dict[int, tuple[type[GitHubError], str]] = {
        401: (errors.Unauthorized, "check the App's id and private key, and this machine's clock"),
        404: (errors.NotFound, "it does not exist, or the installation does not include it"),
        406: (errors.AnswerTooLarge, "it can be had by Git only"),
        410: (errors.Gone, "it was deleted or is past its retention"),
    }
    kind, hint = kinds.get(status, (GitHubError, ""))
    return kind(f"{text}; {hint}" if hint else text, request=request, status=status)


def _reading(body: bytes) -> tuple[str, tuple[FieldError, ...]]:
    """GitHub's message with the reasons after it, and the reasons alone."""
    try:
        value: Any = json.loads(body)
    except ValueError:
        return body[:200].decode("utf-8", "replace").strip(), ()
    if not isinstance(value, dict):
        return str(value)[:200], ()
    found = value.get("errors")
    fields = tuple(_field(each) for each in found) if isinstance(found, list) else ()
    details = "; ".join(each.message or f"{each.field} is {each.code}" for each in fields)
    message = str(value.get("message") or "")
    return (f"{message} ({details})" if details else message), fields


def _field(error: object) -> FieldError:
    if not isinstance(error, dict):
        return FieldError("", "", "custom", str(error))
    return FieldError(*(str(error.get(key) or "") for key in ("resource", "field", "code", "message")))


def _limited(
    text: str, said: str, request: str, status: int, headers: Mapping[str, str], now: float
) -> errors.RateLimited | None:
    if status not in (403, 422, 429):
        return None
    secondary = is_secondary(said)
    if status == 422 and not secondary:
        return None
    used_up = headers.get("x-ratelimit-remaining") == "0" and "not accessible" not in said
    if secondary or used_up or status == 429 or _number(headers.get("retry-after")) is not None:
        return rate_limit(text, said, request, status, headers, now)
    return None


def is_secondary(said: str) -> bool:
    """Whether GitHub's message speaks of a secondary limit. GraphQL answers 200 then, with a `type` of another kind."""
    return _SECONDARY.search(said) is not None


def rate_limit(
    text: str, said: str, request: str, status: int, headers: Mapping[str, str], now: float
) -> errors.RateLimited:
    """The limit in an answer that speaks of one, until the time that its headers tell. `said` is GitHub's message."""
    after = _number(headers.get("retry-after"))
    primary = headers.get("x-ratelimit-remaining") == "0" and not is_secondary(said)
    if primary:
        retry_at = max(_number(headers.get("x-ratelimit-reset")) or 0.0, now + (after or 1.0))
    else:
        retry_at = now + (SECONDARY_WAIT if after is None else after)
    return errors.RateLimited(text, retry_at=retry_at, secondary=not primary, request=request, status=status)


def _forbidden(text: str, said: str, request: str, headers: Mapping[str, str]) -> GitHubError:
    lower = said.lower()
    if "suspended" in lower:
        hint = "the account's owner can unsuspend it in its installed GitHub Apps"
        return errors.InstallationSuspended(f"{text}; {hint}", request=request, status=403)
    if "locked" in lower:
        return errors.Locked(f"{text}; somebody with write access can unlock it", request=request, status=403)
    if "archived" in lower:
        return errors.RepositoryArchived(f"{text}; unarchive it first", request=request, status=403)
    if "not accessible by integration" in lower or "permission" in lower:
        needed = headers.get("x-accepted-github-permissions", "")
        hint = f"the App needs {needed}" if needed else "the App lacks a permission for this"
        hint += "; an owner has to accept new permissions at the installation"
        return errors.PermissionMissing(f"{text}; {hint}", needed=needed, request=request, status=403)
    if _RULES.search(said):
        return errors.RuleViolation(text, request=request, status=403)
    return errors.Forbidden(text, request=request, status=403)


def _invalid(text: str, said: str, fields: tuple[FieldError, ...], request: str, status: int) -> GitHubError:
    lower = said.lower()
    if "permissions requested are not granted" in lower:
        hint = "an owner has to accept the App's permissions at the installation"
        return errors.PermissionMissing(f"{text}; {hint}", request=request, status=status)
    kind: type[errors.Invalid] = errors.Invalid
    if "fast forward" in lower or "fast-forward" in lower:
        kind = errors.NotFastForward
    elif "already exists" in lower or any(each.code == "already_exists" for each in fields):
        kind = errors.AlreadyExists
    elif _RULES.search(said):
        kind = errors.RuleViolation
    elif _NOT_VISIBLE.search(said) or any((each.field, each.code) == ("head", "invalid") for each in fields):
        kind = errors.NotVisibleYet
    return kind(text, errors=fields, request=request, status=status)


def _number(text: str | None) -> float | None:
    try:
        return float(text) if text is not None else None
    except ValueError:
        return None
