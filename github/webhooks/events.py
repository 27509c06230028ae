"""Webhook payloads as small tolerant structs: only the fields that some rule reads, any of them missing or null.

GitHub's real payloads break strict models (null authors, deleted forks, numbers for dates), so nothing is required.
"""

import json
from urllib.parse import parse_qs

import msgspec


class BadPayload(ValueError):
    """The body is no JSON object, or a field we read has a type that GitHub never sends."""


class User(msgspec.Struct, kw_only=True):
    id: int | None = None
    login: str | None = None
    type: str | None = None


class App(msgspec.Struct, kw_only=True):
    id: int | None = None
    slug: str | None = None


class RepositoryPayload(msgspec.Struct, kw_only=True):
    id: int | None = None
    full_name: str | None = None
    default_branch: str | None = None
    archived: bool | None = None
    private: bool | None = None
    fork: bool | None = None


class InstallationPayload(msgspec.Struct, kw_only=True):
    id: int | None = None
    app_id: int | None = None
    account: User | None = None
    repository_selection: str | None = None


class Label(msgspec.Struct, kw_only=True):
    name: str | None = None


class PullLink(msgspec.Struct, kw_only=True):
    """`issue.pull_request`: its presence says that the issue is a pull request."""

    url: str | None = None
    merged_at: str | None = None


class Issue(msgspec.Struct, kw_only=True):
    id: int | None = None
    node_id: str | None = None
    number: int | None = None
    title: str | None = None
    body: str | None = None
    state: str | None = None
    html_url: str | None = None
    updated_at: str | None = None
    locked: bool | None = None
    user: User | None = None
    labels: list[Label | None] | None = None
    assignees: list[User | None] | None = None
    pull_request: PullLink | None = None
    performed_via_github_app: App | None = None


class Comment(msgspec.Struct, kw_only=True):
    """An issue comment, an inline review comment (with `path`) or a commit comment."""

    id: int | None = None
    node_id: str | None = None
    body: str | None = None
    html_url: str | None = None
    user: User | None = None
    performed_via_github_app: App | None = None
    path: str | None = None
    line: int | None = None
    start_line: int | None = None
    side: str | None = None
    diff_hunk: str | None = None
    commit_id: str | None = None
    in_reply_to_id: int | None = None
    created_at: str | None = None
    updated_at: str | None = None
    pull_request_review_id: int | None = None


class Review(msgspec.Struct, kw_only=True):
    id: int | None = None
    node_id: str | None = None
    body: str | None = None
    state: str | None = None
    commit_id: str | None = None
    html_url: str | None = None
    user: User | None = None
    submitted_at: str | None = None


class Side(msgspec.Struct, kw_only=True):
    """`head` or `base` of a pull request; `repo` is null once a fork is deleted."""

    ref: str | None = None
    sha: str | None = None
    repo: RepositoryPayload | None = None


class PullRequest(msgspec.Struct, kw_only=True):
    id: int | None = None
    node_id: str | None = None
    number: int | None = None
    title: str | None = None
    body: str | None = None
    state: str | None = None
    html_url: str | None = None
    draft: bool | None = None
    merged: bool | None = None
    updated_at: str | None = None
    merged_at: str | None = None
    user: User | None = None
    labels: list[Label | None] | None = None
    head: Side | None = None
    base: Side | None = None


class CheckSuite(msgspec.Struct, kw_only=True):
    id: int | None = None
    status: str | None = None
    conclusion: str | None = None
    head_branch: str | None = None
    head_sha: str | None = None
    app: App | None = None
    pull_requests: list[PullRequest | None] | None = None


class CheckRun(msgspec.Struct, kw_only=True):
    id: int | None = None
    name: str | None = None
    status: str | None = None
    conclusion: str | None = None
    head_sha: str | None = None
    external_id: str | None = None
    app: App | None = None
    check_suite: CheckSuite | None = None
    pull_requests: list[PullRequest | None] | None = None


class WorkflowRun(msgspec.Struct, kw_only=True):
    id: int | None = None
    run_attempt: int | None = None
    name: str | None = None
    path: str | None = None
    event: str | None = None
    status: str | None = None
    conclusion: str | None = None
    head_sha: str | None = None
    head_branch: str | None = None
    head_repository: RepositoryPayload | None = None
    pull_requests: list[PullRequest | None] | None = None


class RequestedAction(msgspec.Struct, kw_only=True):
    identifier: str | None = None


class Before(msgspec.Struct, kw_only=True):
    """A former value inside `changes`."""

    value: str | None = msgspec.field(default=None, name="from")


class RepositoryChange(msgspec.Struct, kw_only=True):
    name: Before | None = None


class Changes(msgspec.Struct, kw_only=True):
    body: Before | None = None
    title: Before | None = None
    default_branch: Before | None = None
    repository: RepositoryChange | None = None


class Branch(msgspec.Struct, kw_only=True):
    name: str | None = None


class Event(msgspec.Struct, kw_only=True):
    """One delivery. `name` is the `X-GitHub-Event` header; fields that this event does not have are None."""

    # Payloads have a `name` of their own, which means something else.
    name: str = msgspec.field(default="", name="x-github-event")
    action: str | None = None
    sender: User | None = None
    repository: RepositoryPayload | None = None
    installation: InstallationPayload | None = None
    issue: Issue | None = None
    comment: Comment | None = None
    pull_request: PullRequest | None = None
    review: Review | None = None
    label: Label | None = None
    assignee: User | None = None
    changes: Changes | None = None
    check_run: CheckRun | None = None
    check_suite: CheckSuite | None = None
    workflow_run: WorkflowRun | None = None
    requested_action: RequestedAction | None = None
    repositories: list[RepositoryPayload | None] | None = None
    repositories_added: list[RepositoryPayload | None] | None = None
    repositories_removed: list[RepositoryPayload | None] | None = None
    ref: str | None = None
    before: str | None = None
    after: str | None = None
    created: bool | None = None
    deleted: bool | None = None
    forced: bool | None = None
    sha: str | None = None
    state: str | None = None
    context: str | None = None
    branches: list[Branch | None] | None = None


class _Envelope(msgspec.Struct, kw_only=True):
    """What is read of an event that no rule wants: enough to record whose it was."""

    action: str | None = None
    sender: User | None = None
    repository: RepositoryPayload | None = None
    installation: InstallationPayload | None = None


# None: the event has no action, or every action of it counts.
WANTED: dict[str, frozenset[str] | None] = {
    "check_run": frozenset({"completed", "rerequested", "requested_action"}),
    "check_suite": frozenset({"completed", "rerequested"}),
    "installation": frozenset({"created", "deleted", "suspend", "unsuspend", "new_permissions_accepted"}),
    "installation_repositories": frozenset({"added", "removed"}),
    "issue_comment": frozenset({"created", "edited", "deleted"}),
    "issues": frozenset({"opened", "edited", "closed", "reopened", "deleted", "transferred", "labeled", "assigned"}),
    "pull_request": frozenset(
        {"opened", "edited", "closed", "reopened", "synchronize", "ready_for_review", "labeled", "assigned"}
    ),
    "pull_request_review": frozenset({"submitted", "edited"}),
    "pull_request_review_comment": frozenset({"created", "edited", "deleted"}),
    "push": None,
    "repository": frozenset({"archived", "unarchived", "deleted", "edited", "renamed", "transferred"}),
    "status": None,
    "workflow_run": frozenset({"completed"}),
}

# Of these, what people did and wait for an answer to, as far as the event's name and its action tell.
PEOPLE: dict[str, frozenset[str] | None] = {
    "check_run": frozenset({"rerequested", "requested_action"}),
    "check_suite": frozenset({"rerequested"}),
    "issue_comment": None,
    "issues": None,
    "pull_request_review": None,
    "pull_request_review_comment": None,
}

# Those that come in great numbers, and of which few concern anybody.
HINTS: dict[str, frozenset[str] | None] = {
    "check_run": frozenset({"completed"}),
    "check_suite": frozenset({"completed"}),
    "pull_request": frozenset({"synchronize"}),
    "push": None,
    "status": None,
    "workflow_run": None,
}

_decode_event = msgspec.json.Decoder(Event).decode
_decode_envelope = msgspec.json.Decoder(_Envelope).decode


def wanted(event: str, action: str | None) -> bool:
    """Whether any rule could want this delivery, by the event's name and its `action` alone."""
    return _is_of(WANTED, event, action)


def people_wait(event: str, action: str | None) -> bool:
    """Whether somebody may wait for an answer to this delivery, by the event's name and its `action` alone."""
    return _is_of(PEOPLE, event, action)


def is_hint(event: str, action: str | None) -> bool:
    """Whether this delivery is one of many that say of a commit or branch that it changed, and no more."""
    return _is_of(HINTS, event, action)


def _is_of(kind: dict[str, frozenset[str] | None], event: str, action: str | None) -> bool:
    if event not in kind:
        return False
    actions = kind[event]
    return actions is None or action in actions


def parse(event: str, body: bytes) -> Event:
    """The event in `body`: JSON, or a form with the JSON in `payload`. Raises BadPayload."""
    if body[:8] == b"payload=":
        values = parse_qs(body.decode("utf-8", "replace"), keep_blank_values=True, max_num_fields=16)
        body = values["payload"][0].encode("utf-8", "replace")
    try:
        return _parse(event, body)
    except msgspec.ValidationError as error:
        raise BadPayload(f"{event}: a field is not what GitHub sends: {error}") from error
    except (msgspec.DecodeError, UnicodeDecodeError):
        return _parse_mended(event, body)
    except RecursionError as error:
        raise BadPayload(f"{event}: nested too deeply") from error


def _parse(event: str, body: bytes) -> Event:
    if event in WANTED:
        parsed = _decode_event(body)
        parsed.name = event
        return parsed
    head = _decode_envelope(body)
    return Event(
        name=event, action=head.action, sender=head.sender, repository=head.repository, installation=head.installation
    )


def _parse_mended(event: str, body: bytes) -> Event:
    """Lone surrogates and broken UTF-8 stand in real commit messages: replace them and read again."""
    try:
        value = json.loads(body.decode("utf-8", "replace"))
        clean = json.dumps(value, ensure_ascii=False).encode("utf-8", "replace")
        return _parse(event, clean)
    except (ValueError, RecursionError) as error:
        raise BadPayload(f"{event}: the body is no JSON object ({len(body)} bytes): {error}") from error
