"""`greenloop replay`: deliver a saved payload to a running service, signed as GitHub signs."""

import json
import uuid
from pathlib import Path
from typing import Annotated

import typer

from app.commands.common import one_line_errors

TIMEOUT_SECONDS = 30.0


def replay(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The payload as GitHub sent it; - is standard input.")],
    event: Annotated[str, typer.Option(help="X-GitHub-Event; by default it is read off the payload's fields.")] = "",
    url: Annotated[str, typer.Option(help="The service; by default GREENLOOP_PUBLIC_URL.")] = "",
    delivery: Annotated[
        str, typer.Option(help="X-GitHub-Delivery; by default a new one. An old one is a repeat.")
    ] = "",
) -> None:
    """Deliver a saved payload to a running service, signed with the first configured secret.

    The exit code is 0 when the service took it (2xx), 1 when it refused or could not be reached, 2 for bad input.
    """
    import httpx

    from app.settings import Settings
    from app.web.app import WEBHOOKS
    from github.webhooks.signature import sign

    with one_line_errors():
        settings = Settings()
        body = typer.get_binary_stream("stdin").read() if str(file) == "-" else file.read_bytes()
        secrets = settings.webhook_secret_list()
        if not secrets:
            raise ValueError("no webhook secret: set GREENLOOP_WEBHOOK_SECRETS or GREENLOOP_WEBHOOK_SECRETS_FILE")
        name = event or event_of(body)
        base = (url or settings.public_url).rstrip("/")
        guid = delivery or str(uuid.uuid4())
        headers = {
            "content-type": "application/json",
            "user-agent": "GitHub-Hookshot/replay",
            "x-github-event": name,
            "x-github-delivery": guid,
            "x-hub-signature-256": sign(secrets[0], body),
        }
        target = base if base.endswith(WEBHOOKS) else base + WEBHOOKS
        try:
            answer = httpx.post(target, content=body, headers=headers, timeout=TIMEOUT_SECONDS)
        except httpx.InvalidURL as error:
            raise ValueError(f"{target!r} is no URL: {error}") from None
        except httpx.HTTPError as error:
            print(f"{target} does not answer: {error}; is the service running?")
            raise typer.Exit(1) from None
    print(f"{answer.status_code} {name} {guid} {answer.text.strip()[:500]}")
    raise typer.Exit(0 if answer.is_success else 1)


# The field that only payloads of this event have, the narrower ones first.
_TELLING = (
    ("check_run", "check_run"),
    ("check_suite", "check_suite"),
    ("workflow_job", "workflow_job"),
    ("workflow_run", "workflow_run"),
    ("review", "pull_request_review"),
    ("thread", "pull_request_review_thread"),
    ("pull_request", "pull_request"),
    ("repositories_added", "installation_repositories"),
    ("zen", "ping"),
    ("commits", "push"),
    ("state", "status"),
)

_REPOSITORY = {"action", "repository", "sender", "organization", "enterprise", "installation", "changes"}


def event_of(body: bytes) -> str:
    """The event whose payload this is, by its fields. Raises ValueError where they leave it open."""
    try:
        payload = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"the payload is no JSON ({error}): give the file as GitHub sent it, and --event") from None
    if not isinstance(payload, dict):
        raise ValueError("the payload is no JSON object: give the file as GitHub sent it")
    if "comment" in payload and ("issue" in payload or "pull_request" in payload):
        return "issue_comment" if "issue" in payload else "pull_request_review_comment"
    for field, event in _TELLING:
        if field in payload:
            return event
    if "issue" in payload:
        return "issues"
    if "installation" in payload and "repository" not in payload and "action" in payload:
        return "installation"
    if "repository" in payload and set(payload) <= _REPOSITORY:
        return "repository"
    raise ValueError("the payload's fields do not tell its event: name it with --event")
