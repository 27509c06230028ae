"""The GitHub App: its key, its permissions and events, its installations, its webhook."""

from collections.abc import Mapping, Sequence

from app.commands.doctor.finding import Finding
from app.commands.doctor.network_checks import webhook
from app.process.wiring import open_github
from app.settings import Settings
from github.apps.manifest import EVENTS, PERMISSIONS
from github.client.app import Identity, InstallationFacts
from github.client.errors import GitHubError


async def check_app(settings: Settings) -> list[Finding]:
    """All that GitHub says of the App."""
    where = "GREENLOOP_APP_ID and GREENLOOP_APP_PRIVATE_KEY_FILE"
    if not settings.app_id or not settings.private_key().strip():
        return [Finding("GitHub App", "fail", "no App is configured", f"Make one and set {where}.")]
    try:
        github = open_github(settings)
    except ValueError as error:
        return [Finding("GitHub App", "fail", str(error), f"Check {where}.")]
    try:
        me = await github.identity()
        found = [Finding("GitHub App", "ok", f"{me.slug} (id {me.app_id}) at {settings.github_api_url}")]
        found += [_permissions(me), _events(me), *_installations(await github.installations(), me.html_url)]
        return [*found, *await webhook(settings, github)]
    except GitHubError as error:
        return [Finding("GitHub App", "fail", str(error), f"Check {where}, GREENLOOP_GITHUB_API_URL and the clock.")]
    finally:
        await github.aclose()


def _permissions(me: Identity) -> Finding:
    if lacking := _lacking(me.permissions, PERMISSIONS):
        return Finding("permissions", "fail", "the App lacks " + ", ".join(lacking), _change(me))
    if me.permissions.get("workflows") != "write":
        text = "all that is needed; without `workflows: write` no turn can change a workflow file"
        return Finding("permissions", "ok", text)
    return Finding("permissions", "ok", "all that is needed")


def _events(me: Identity) -> Finding:
    if missing := sorted(set(EVENTS) - set(me.events)):
        return Finding("events", "fail", "the App does not get " + ", ".join(missing), _change(me))
    return Finding("events", "ok", f"{len(EVENTS)} of {len(EVENTS)}")


def _change(me: Identity) -> str:
    return f"Change them in the App's settings ({me.html_url}), then accept them for each installation."


def _installations(installed: Sequence[InstallationFacts], page: str) -> list[Finding]:
    if not installed:
        return [Finding("installation", "warn", "installed nowhere", f"Install it: {page}/installations/new")]
    return [_installation(each) for each in installed]


def _installation(each: InstallationFacts) -> Finding:
    if each.suspended:
        return Finding("installation", "warn", f"{each.account} has suspended the App", "Its owner can unsuspend it.")
    if behind := _lacking(each.permissions, PERMISSIONS):
        mend = "Its owner has to accept the App's new permissions, in the mail or the settings of the account."
        return Finding("installation", "fail", f"{each.account} has not granted {', '.join(behind)}", mend)
    return Finding("installation", "ok", f"{each.account} (id {each.id})")


def _lacking(held: Mapping[str, str], needed: Mapping[str, str]) -> list[str]:
    order = {"read": 1, "write": 2, "admin": 3}
    return [f"{name}: {level}" for name, level in needed.items() if order.get(held.get(name, ""), 0) < order[level]]
