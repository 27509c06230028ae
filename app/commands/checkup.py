"""What `greenloop doctor` looks at: each check is a function that answers with findings and never raises."""

import asyncio
import contextlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal
from urllib.parse import urlsplit

from app.settings import Settings, unknown_variables

if TYPE_CHECKING:
    from k8s.cluster import Cluster

Level = Literal["ok", "warn", "fail"]
SECONDS = 15.0
NETWORK_SECONDS = 240.0
FREE_BYTES = 2 * 1024**3
OLDEST_GIT = (2, 30)


@dataclass(frozen=True)
class Found:
    """What one check found. `mend` says what to do, for everything that is not ok."""

    check: str
    level: Level
    says: str
    mend: str = ""


Check = Callable[[Settings], Awaitable[list[Found]]]


async def examine(settings: Settings, *, network: bool = False) -> list[Found]:
    """Everything, in the order in which it should be mended. `network` starts a box to see what boxes can reach."""
    found: list[Found] = []
    for name, check in (*CHECKS, *([("network of boxes", _network)] if network else [])):
        seconds = NETWORK_SECONDS if check is _network else SECONDS
        try:
            async with asyncio.timeout(seconds):
                found += await check(settings)
        except TimeoutError:
            found.append(Found(name, "fail", f"no answer within {seconds:.0f} s", "Look at the network and try again."))
        except Exception as error:
            # a doctor that dies of one illness finds no other
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            found.append(Found(name, "fail", text[:300], "Mend what the message names."))
    return found


async def _settings(settings: Settings) -> list[Found]:
    found = []
    for name, nearest in unknown_variables(os.environ).items():
        mend = f"Did you mean {nearest}?" if nearest else "Remove it; app/settings.py has the names."
        found.append(Found("settings", "warn", f"{name} is no setting", mend))
    secrets = settings.webhook_secret_list()
    if not secrets:
        mend = "Set GREENLOOP_WEBHOOK_SECRETS_FILE to a file with the App's webhook secret."
        found.append(Found("webhook secret", "fail", "there is none, so no delivery can be trusted", mend))
    elif min(map(len, secrets)) < 16:
        found.append(Found("webhook secret", "warn", "one is shorter than 16 bytes", "Make a longer, random one."))
    else:
        found.append(Found("webhook secret", "ok", f"{len(secrets)} accepted"))
    local = any(host in settings.public_url for host in ("127.0.0.1", "localhost"))
    if local and settings.github_api_url == "https://api.github.com":
        mend = "Set GREENLOOP_PUBLIC_URL to the address under which GitHub and people reach the service."
        found.append(Found("public URL", "warn", f"{settings.public_url} is this machine only", mend))
    else:
        found.append(Found("public URL", "ok", settings.public_url))
    return [*found, _pages(settings)]


def _pages(settings: Settings) -> Found:
    """Who may see the pages."""
    from app.web.signin.gate import Gate
    from app.web.signin.local import loopback

    mend = (
        "Set GREENLOOP_CLIENT_ID and GREENLOOP_SIGN_IN_SECRET_FILE, both from the App's page, so that people sign in."
    )
    try:
        gate = Gate(settings)
    except ValueError as error:
        return Found("pages", "fail", str(error), mend)
    if gate.signin is not None:
        return Found("pages", "ok", f"people sign in with GitHub; the App's callback URL has to be {gate.redirect_uri}")
    if settings.pages == "open":
        return Found("pages", "warn", "everybody who reaches the service sees every session", mend)
    if not loopback(urlsplit(settings.public_url).hostname):
        return Found("pages", "warn", "closed, since nobody can sign in", mend)
    return Found("pages", "ok", "for this machine only")


async def _keys(settings: Settings) -> list[Found]:
    from loops.secrets.vault import Vault, VaultError

    keys = settings.encryption_key_list()
    mend = "Set GREENLOOP_ENCRYPTION_KEYS_FILE to a file with a Fernet key a line, the newest first."
    if not keys:
        return [Found("encryption keys", "fail", "there is none", mend)]
    try:
        Vault(keys)
    except VaultError as error:
        return [Found("encryption keys", "fail", str(error), mend)]
    return [Found("encryption keys", "ok", f"{len(keys)}, the first encrypts")]


async def _app(settings: Settings) -> list[Found]:
    from app.commands.network_checks import webhook
    from app.process.wiring import open_github
    from github.apps.manifest import EVENTS, PERMISSIONS
    from github.client.errors import GitHubError

    where = "GREENLOOP_APP_ID and GREENLOOP_APP_PRIVATE_KEY_FILE"
    if not settings.app_id or not settings.private_key().strip():
        return [Found("GitHub App", "fail", "no App is configured", f"Make one and set {where}.")]
    try:
        github = open_github(settings)
    except ValueError as error:
        return [Found("GitHub App", "fail", str(error), f"Check {where}.")]
    try:
        me = await github.identity()
        found = [Found("GitHub App", "ok", f"{me.slug} (id {me.app_id}) at {settings.github_api_url}")]
        lacking = _lacking(me.permissions, PERMISSIONS)
        mend = f"Change them in the App's settings ({me.html_url}), then accept them for each installation."
        if lacking:
            found.append(Found("permissions", "fail", "the App lacks " + ", ".join(lacking), mend))
        elif me.permissions.get("workflows") != "write":
            text = "all that is needed; without `workflows: write` no turn can change a workflow file"
            found.append(Found("permissions", "ok", text))
        else:
            found.append(Found("permissions", "ok", "all that is needed"))
        missing = sorted(set(EVENTS) - set(me.events))
        if missing:
            found.append(Found("events", "fail", "the App does not get " + ", ".join(missing), mend))
        else:
            found.append(Found("events", "ok", f"{len(EVENTS)} of {len(EVENTS)}"))
        installed = await github.installations()
        for each in installed:
            if each.suspended:
                text, mend = f"{each.account} has suspended the App", "Its owner can unsuspend it."
                found.append(Found("installation", "warn", text, mend))
            elif behind := _lacking(each.permissions, PERMISSIONS):
                mend = "Its owner has to accept the App's new permissions, in the mail or the settings of the account."
                found.append(Found("installation", "fail", f"{each.account} has not granted {', '.join(behind)}", mend))
            else:
                found.append(Found("installation", "ok", f"{each.account} (id {each.id})"))
        if not installed:
            found.append(
                Found("installation", "warn", "installed nowhere", f"Install it: {me.html_url}/installations/new")
            )
        return [*found, *await webhook(settings, github)]
    except GitHubError as error:
        return [Found("GitHub App", "fail", str(error), f"Check {where}, GREENLOOP_GITHUB_API_URL and the clock.")]
    finally:
        await github.aclose()


def _lacking(held: Mapping[str, str], needed: Mapping[str, str]) -> list[str]:
    order = {"read": 1, "write": 2, "admin": 3}
    return [f"{name}: {level}" for name, level in needed.items() if order.get(held.get(name, ""), 0) < order[level]]


async def _database(settings: Settings) -> list[Found]:
    from loops.store.database import Database
    from loops.store.schema import look

    database = Database(settings.database)
    shown = "SQLite" if database.sqlite else "PostgreSQL"
    try:
        found = await look(database)
    finally:
        await database.close()
    if not found.usable and "does not answer" in found.says:
        mend = "Check GREENLOOP_DATABASE_URL, and that the server runs and lets this machine in."
        return [Found("database", "fail", f"{shown}: {found.says}", mend)]
    if not found.usable:
        return [Found("database", "fail", f"{shown}: {found.says}", "Run `greenloop migrate`.")]
    if found.says != "ok":
        mend = "Run the version that made it, or a newer one, unless an upgrade is under way."
        return [Found("database", "warn", f"{shown}: {found.says}", mend)]
    return [Found("database", "ok", f"{shown}, at the current schema")]


async def _redis(settings: Settings) -> list[Found]:
    from app.process.valkey import RedisUnavailable, binary
    from loops.store.queue import Queue

    if not settings.redis_url:
        try:
            binary()
        except RedisUnavailable as error:
            return [Found("Redis", "fail", str(error), "Set GREENLOOP_REDIS_URL to a Redis or Valkey server.")]
        return [Found("Redis", "ok", "our own, started by `greenloop up`")]
    queue = Queue(settings.redis_url)
    try:
        if await queue.ping():
            return [Found("Redis", "ok", "answers")]
    finally:
        await queue.close()
    mend = "Check GREENLOOP_REDIS_URL; until then work goes on at the pace of the workers' sweep."
    return [Found("Redis", "fail", "does not answer", mend)]


async def _machine(settings: Settings) -> list[Found]:
    """git only where boxes are local processes: the boxes of a cluster bring their own."""
    git = [await asyncio.to_thread(_git)] if settings.boxes == "local" else []
    return [*git, await asyncio.to_thread(_disk, settings.folder)]


def _git() -> Found:
    try:
        said = subprocess.run(
            ["git", "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return Found("git", "fail", f"git does not run: {type(error).__name__}", "Install git.")
    numbers = [int(part) for part in said.split()[2].split(".")[:2] if part.isdigit()]
    if tuple(numbers) < OLDEST_GIT:
        return Found("git", "warn", said, "Local boxes need git 2.30 or newer.")
    return Found("git", "ok", said)


def _disk(folder: Path) -> Found:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Found("disk", "fail", f"{folder}: {error.strerror}", "Set GREENLOOP_DATA to a folder of this user's.")
    says = f"{folder} has {free / 1024**3:.1f} GiB free"
    if free < FREE_BYTES:
        return Found("disk", "warn", says, "Make room: checkouts and the database grow.")
    return Found("disk", "ok", says)


async def _boxes(settings: Settings) -> list[Found]:
    from app.process.wiring import open_boxes
    from k8s.boxes import BoxesUnavailable

    try:
        boxes = await open_boxes(settings)
    except ValueError as error:
        return [Found("boxes", "fail", str(error), "See the settings of the boxes in the README.")]
    try:
        found = await boxes.list()
    except BoxesUnavailable as error:
        mend = "Check the cluster, GREENLOOP_KUBECONFIG and the rights of the service's account in the namespace."
        return [Found("boxes", "fail", str(error), mend)]
    finally:
        await boxes.close()
    there = Found("boxes", "ok", f"{settings.boxes}, {len(found)} there now")
    if settings.boxes == "local":
        return [there]
    from app.commands.network_checks import policies

    async with _cluster(settings) as cluster:
        return [there, await _rights(settings, cluster), await policies(settings, cluster)]


@contextlib.asynccontextmanager
async def _cluster(settings: Settings) -> "AsyncIterator[Cluster]":
    from k8s.cluster import Cluster

    kubeconfig = settings.kubeconfig.expanduser() if settings.kubeconfig else None
    cluster = await Cluster.connect(settings.box_namespace, kubeconfig=kubeconfig)
    try:
        yield cluster
    finally:
        await cluster.close()


async def _network(settings: Settings) -> list[Found]:
    from app.commands.network_checks import walls

    if settings.boxes == "local":
        mend = "Use boxes on Kubernetes for people whom you would not give a shell on this machine."
        return [Found("network of boxes", "warn", "local boxes reach whatever this machine does", mend)]
    async with _cluster(settings) as cluster:
        return [await walls(settings, cluster)]


async def _rights(settings: Settings, cluster: "Cluster") -> Found:
    from k8s.rights import missing_rights

    missing = await missing_rights(cluster, settings.box_owner)
    if missing:
        says = f"in {settings.box_namespace} we may not {', '.join(missing)}"
        return Found("cluster rights", "fail", says, "Give the service's account the Role that the chart has.")
    return Found("cluster rights", "ok", f"all that is needed in {settings.box_namespace}")


CHECKS: tuple[tuple[str, Check], ...] = (
    ("settings", _settings),
    ("encryption keys", _keys),
    ("GitHub App", _app),
    ("database", _database),
    ("Redis", _redis),
    ("machine", _machine),
    ("boxes", _boxes),
)
