"""What a fresh local GitHub has: GitHub's own accounts, the Actions App, and the App under test."""

from dataclasses import dataclass

from github.emulator.acts import accounts
from github.emulator.forge import Forge
from github.emulator.store.apps import ACTIONS_ID, App, HookConfig

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


@dataclass(frozen=True)
class Seed:
    """The App under test."""

    app: App

    @staticmethod
    def plant(forge: Forge, slug: str) -> "Seed":
        github = accounts.user_added(forge, "github", "Organization", "GitHub")
        bot = accounts.user_added(forge, f"{ACTIONS_SLUG}[bot]", "Bot")
        accounts.user_added(forge, "web-flow", "User", "GitHub Web Flow", "noreply@github.com")
        now = forge.now()
        forge.store.apps.add(
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
                hook=HookConfig(forge.store.hooks.new_id(), active=False),
                created_at=now,
                updated_at=now,
            )
        )
        owner = accounts.user_added(forge, f"{slug}-owner")
        return Seed(accounts.app_added(forge, slug, owner, PERMISSIONS, list(EVENTS)))
