"""What `greenloop doctor` looks at outside the service: whether GitHub reaches it, and what closes its boxes off."""

import time

from app.commands.doctor.finding import Finding
from app.settings import Settings
from github.client.app import GitHubApp
from github.webhooks.deliveries import walk
from k8s.cluster import Cluster
from k8s.network_policy_probe import missing_isolation

DAYS = 3


async def webhook(settings: Settings, github: GitHubApp) -> list[Finding]:
    """Where GitHub sends webhooks to, and how the newest one fared. Raises GitHubError."""
    wanted = f"{settings.public_url.rstrip('/')}/webhooks/github"
    to = str((await github.as_app("GET", "app/hook/config")).json().get("url") or "")
    mend = "Set the webhook URL in the App's settings, or GREENLOOP_PUBLIC_URL."
    if not to:
        return [Finding("webhook", "fail", f"GitHub sends webhooks nowhere; the service is at {wanted}", mend)]
    found = []
    if to.rstrip("/") != wanted:
        found.append(Finding("webhook URL", "warn", f"GitHub sends to {to}, the service is at {wanted}", mend))
    return [*found, await _newest(github)]


async def _newest(github: GitHubApp) -> Finding:
    async for delivery in walk(github, since=time.time() - DAYS * 86400):
        age = f"{max(0.0, github.clock.now() - delivery.delivered_at) / 60:.0f} min ago"
        if delivery.ok:
            return Finding("webhook", "ok", f"the newest delivery arrived {age}")
        said = f"the newest delivery ({delivery.event}, {age}) failed: {delivery.status_code} {delivery.status}"
        mend = "Is the service up, does the URL lead to it from the internet, and is the webhook secret the same?"
        return Finding("webhook", "fail", said.rstrip(), mend)
    mend = "Once the App is installed, a comment on an issue is enough to see one arrive."
    return Finding("webhook", "warn", f"GitHub has delivered nothing for {DAYS} days", mend)


async def policies(settings: Settings, cluster: Cluster) -> Finding:
    """Whether network policies close boxes off. Raises ClusterUnreachable and ClusterError."""
    missing = await missing_isolation(cluster, settings.instance)
    if missing is None:
        mend = "`greenloop doctor --network` tries what a box can reach; an administrator's kubeconfig may look."
        return Finding("network policies", "warn", f"we may not look at them in {settings.box_namespace}", mend)
    if missing:
        says = f"none in {settings.box_namespace} closes {' and '.join(sorted(missing))} of boxes"
        return Finding("network policies", "fail", says, "Install the chart's policies for boxes.")
    return Finding(
        "network policies", "ok", "boxes are closed off by default; --network tries whether that is enforced"
    )
