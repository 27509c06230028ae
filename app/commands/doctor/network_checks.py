"""What `greenloop doctor` looks at outside the service: whether GitHub reaches it, and where its boxes can go."""

import time
from urllib.parse import urlsplit

from app.commands.doctor.finding import Finding
from app.settings import Settings
from github.client.app import GitHubApp
from github.webhooks.deliveries import walk
from k8s.cluster import Cluster, ClusterError, ClusterUnreachable
from k8s.network_policy_probe import ProbeFailed, missing_isolation, reach

DAYS = 3
METADATA = ("169.254.169.254:80", "[fd00:ec2::254]:80")
"""The metadata services of clouds, by either protocol."""
PROBE_SECONDS = 180.0
_PORTS = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379, "postgresql": 5432, "postgres": 5432}


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


async def walls(settings: Settings, cluster: Cluster) -> Finding:
    """What a box can really reach: it should be the service, and neither database, Redis nor the cloud's metadata.

    Where it has gateways alone, GitHub is none of it either.
    """
    options = settings.box_pod
    if settings.box_image:
        options = options.model_copy(update={"image": settings.box_image})
    closed = [settings.redis_url, settings.database_url]
    if settings.box_egress == "gateway":
        closed += [settings.github_web_url, settings.github_api_url]
    forbidden = list(dict.fromkeys([*METADATA, *filter(None, map(place, closed))]))
    service = place(settings.box_service_url)
    try:
        found = await reach(
            cluster, settings.instance, options, service=service, forbidden=forbidden, seconds=PROBE_SECONDS
        )
    except (ProbeFailed, ClusterError, ClusterUnreachable) as error:
        mend = "Mend what the message names; boxes for people fail for the same reason."
        return Finding("network of boxes", "fail", f"a box for trying could not run: {error}", mend)
    if found.reached:
        mend = "The cluster's network does not enforce NetworkPolicies, or the chart's are not there: see its page."
        return Finding("network of boxes", "fail", f"a box reaches {', '.join(found.reached)}", mend)
    if found.service:
        mend = (
            "Check GREENLOOP_SERVICE_URL, which leads to GREENLOOP_BOX_PORT, and boxes.network in the chart's values."
        )
        return Finding(
            "network of boxes", "fail", f"a box cannot reach the service at {service}: {found.service}", mend
        )
    return Finding("network of boxes", "ok", f"a box reaches the service and none of {', '.join(forbidden)}")


def place(url: str) -> str:
    """`host:port` of a URL; empty for one without a host, such as a file or a socket."""
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme.partition("+")[0], 0)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    return f"{host}:{port}" if host and port else ""
