"""What `greenloop doctor --network` tries: what the service is answered by, and what a box reaches and does not."""

from collections.abc import Iterable
from typing import get_args
from urllib.parse import urlsplit

import httpx
from sqlalchemy import select

from app.commands.doctor.finding import Finding
from app.settings import Settings
from k8s.cluster import Cluster, ClusterError, ClusterUnreachable
from k8s.network_policy_probe import ProbeFailed, Tried, reach
from loops.accounts.credentials import kind_of
from loops.gateway.upstreams import base_of
from loops.runtimes.spec import Wire
from loops.store.database import Database
from loops.store.schema import look
from loops.store.tables import Profile

METADATA = ("169.254.169.254:80", "[fd00:ec2::254]:80")
"""The metadata services of clouds, by either protocol."""
PROBE_SECONDS = 180.0
HERE_SECONDS = 10.0
HEALTH = "/healthz"
"""Of the port that boxes ask, where the gateways are."""
MOST_PLACES = 16
_PORTS = {"http": 80, "https": 443, "redis": 6379, "rediss": 6379, "postgresql": 5432, "postgres": 5432}


async def from_a_box(settings: Settings, cluster: Cluster) -> list[Finding]:
    """What a box really reaches: it has to be the service, and neither database, Redis nor the cloud's metadata.

    Where it has gateways alone, GitHub and the hosts of models are none of it either; where it has the internet, they
    are.
    """
    options = settings.box_pod
    if settings.box_image:
        options = options.model_copy(update={"image": settings.box_image})
    service = place(settings.box_service_url)
    hosts = {"Git host": _places(_of_git(settings)), "hosts of models": _places(await models(settings))}
    closed = _places([settings.redis_url, settings.database_url])
    if settings.box_egress == "gateway":
        closed += [each for group in hosts.values() for each in group]
    closed = list(dict.fromkeys([*METADATA, *closed]))
    places = list(dict.fromkeys([service, *closed, *(each for group in hosts.values() for each in group)]))
    path = HEALTH if settings.box_service_url.startswith("http:") else ""
    try:
        tried = await reach(
            cluster, settings.instance, options, places=places[:MOST_PLACES], path=path, seconds=PROBE_SECONDS
        )
    except (ProbeFailed, ClusterError, ClusterUnreachable) as error:
        mend = "Mend what the message names; boxes for people fail for the same reason."
        return [Finding("network of boxes", "fail", f"a box for trying could not run: {error}", mend)]
    found = [_walls(tried, service, [each for each in closed if each in tried.places], asked=bool(path))]
    if settings.box_egress != "gateway":
        found += [
            _open(
                name, [each for each in group if each in tried.places], tried, needed=settings.box_egress == "internet"
            )
            for name, group in hosts.items()
            if group
        ]
    return found


def _walls(tried: Tried, service: str, closed: list[str], *, asked: bool) -> Finding:
    name = "network of boxes"
    if reached := [_by(tried, each) for each in closed if tried.by(each)]:
        mend = "The cluster's network does not enforce NetworkPolicies, or the chart's are not there: see its page."
        return Finding(name, "fail", f"a box reaches {', '.join(reached)}", mend)
    mend = "Check GREENLOOP_SERVICE_URL, which leads to GREENLOOP_BOX_PORT, and boxes.network in the chart's values."
    if why := tried.why_not(service):
        return Finding(name, "fail", f"a box cannot reach the service at {service}: {why}", mend)
    if asked and not 200 <= tried.status < 300:
        said = f"answers {tried.status}" if tried.status else "answers no HTTP"
        return Finding(name, "fail", f"what a box reaches at {service} is not the service's gateways: it {said}", mend)
    says = f"a box reaches the service at {_by(tried, service)} and none of {', '.join(closed)}"
    return Finding(name, "ok", says)


def _open(name: str, places: list[str], tried: Tried, *, needed: bool) -> Finding:
    check = f"{name}, from a box"
    reached = ", ".join(_by(tried, each) for each in places if tried.by(each))
    lost = ", ".join(f"{each}: {why}" for each in places if (why := tried.why_not(each)))
    says = f"a box reaches {reached or 'none of them'}" + (f", not {lost}" if lost else "")
    if lost and needed:
        mend = (
            "Turns go through the service's gateways; for what else is fetched look at boxes.network, DNS and proxies."
        )
        return Finding(check, "warn", says, mend)
    return Finding(check, "ok", says)


def _by(tried: Tried, each: str) -> str:
    return f"{each} ({', '.join(tried.by(each))})"


async def from_here(settings: Settings) -> list[Finding]:
    """Whether the service itself, whose gateways fetch for boxes, is answered by the Git host and the models' hosts."""
    found = []
    async with httpx.AsyncClient(timeout=HERE_SECONDS) as client:
        for name, urls in (("Git host", _of_git(settings)), ("hosts of models", await models(settings))):
            wrong = [why for url in urls if (why := await _unanswered(client, url))]
            hosts = ", ".join(dict.fromkeys(filter(None, map(place, urls))))
            if wrong:
                mend = "Look at the service's DNS and proxy (HTTPS_PROXY, SSL_CERT_FILE), and the account's endpoint."
                found.append(Finding(name, "fail", f"the service is not answered by {'; '.join(wrong)}", mend))
            elif urls:
                found.append(Finding(name, "ok", f"the service is answered by {hosts}"))
    return found


async def _unanswered(client: httpx.AsyncClient, url: str) -> str:
    """Which place does not answer and why; empty for any answer at all."""
    try:
        async with client.stream("GET", url):
            return ""
    except (httpx.HTTPError, httpx.InvalidURL) as error:
        return f"{place(url) or url}: {str(error) or type(error).__name__}"


def _of_git(settings: Settings) -> list[str]:
    return list(dict.fromkeys([settings.github_web_url, settings.github_api_url]))


async def models(settings: Settings) -> list[str]:
    """Where the accounts' requests go; none where the database cannot be read yet, which is told elsewhere."""
    database = Database(settings.database)
    try:
        if not (await look(database)).usable:
            return []
        async with database.read() as tx:
            accounts = (await tx.execute(select(Profile).order_by(Profile.id))).scalars().all()
    finally:
        await database.close()
    found: list[str] = []
    for each in accounts:
        usual = (base_of(each.provider, kind_of(each), wire) for wire in get_args(Wire))
        found += [each.base_url] if each.base_url else [url for url in usual if url]
    return list(dict.fromkeys(found))


def _places(urls: Iterable[str]) -> list[str]:
    return list(dict.fromkeys(filter(None, map(place, urls))))


def place(url: str) -> str:
    """`host:port` of a URL; empty for one without a host, such as a file or a socket."""
    parts = urlsplit(url)
    port = parts.port or _PORTS.get(parts.scheme.partition("+")[0], 0)
    host = f"[{parts.hostname}]" if parts.hostname and ":" in parts.hostname else parts.hostname
    return f"{host}:{port}" if host and port else ""
