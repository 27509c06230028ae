"""What a fresh local GitHub has: GitHub's own accounts, the Actions App, and the App under test."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from github.emulator.acts import accounts
from github.emulator.store.apps import App, HookConfig

if TYPE_CHECKING:
    from github.emulator.hub import Hub

PERMISSIONS = {
    "contents": "write",
    "pull_requests": "write",
    "issues": "write",
    "checks": "write",
    "actions": "write",
    "statuses": "read",
    "metadata": "read",
}
EVENTS = (
    "check_run",
    "check_suite",
    "create",
    "delete",
    "issue_comment",
    "issues",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "pull_request_review_thread",
    "push",
    "repository",
    "status",
    "workflow_job",
    "workflow_run",
)
ACTIONS_SLUG = "github-actions"
# the id of GitHub Actions as an App on github.com
ACTIONS_ID = 15368


@dataclass(frozen=True)
class Seed:
    """The App under test."""

    app: App

    @staticmethod
    def plant(hub: "Hub", slug: str) -> "Seed":
        github = accounts.user_added(hub, "github", "Organization", "GitHub")
        bot = accounts.user_added(hub, f"{ACTIONS_SLUG}[bot]", "Bot")
        accounts.user_added(hub, "web-flow", "User", "GitHub Web Flow", "noreply@github.com")
        now = hub.clock.now()
        hub.store.apps.add(
            App(
                id=ACTIONS_ID,
                slug=ACTIONS_SLUG,
                name="GitHub Actions",
                client_id="Iv1.actions",
                client_secret="",
                owner=github,
                bot=bot,
                permissions={},
                events=[],
                private_key="",
                public_key="",
                hook=HookConfig(hub.store.hooks.new_id(), active=False),
                created_at=now,
                updated_at=now,
            )
        )
        owner = accounts.user_added(hub, f"{slug}-owner")
        return Seed(accounts.app_added(hub, slug, owner, PERMISSIONS, list(EVENTS)))
