"""Where everything is put together: the loop of a worker, and what the web needs of GitHub and the vault."""

import contextlib
import os
from collections.abc import AsyncIterator, Callable

import structlog
from starlette.applications import Starlette

from app.gateway.gateway import ModelGateway
from app.gateway.git.gateway import GitGateway
from app.process.clone_tokens import CloneTokens
from app.process.identity import identity_of
from app.settings import Settings
from app.web.app import create_app
from github.client.app import GitHubApp, Identity
from github.client.http.rate_limit import Shared
from github.webhooks.identity import Me
from k8s.boxes import Boxes
from k8s.kubernetes_boxes import KubernetesBoxes
from k8s.local import LocalBoxes
from loops.accounts.credentials import TurnCredentials
from loops.context import Loop
from loops.protocol.tokens import box_key
from loops.secrets.vault import Vault
from loops.store.bus import Bus
from loops.store.database import Database
from loops.store.leases import Leases
from loops.store.rate_limits import SharedRateLimits

log = structlog.get_logger(__name__)


def open_github(settings: Settings, shared: Shared | None = None) -> GitHubApp:
    """The App at GitHub. Raises ValueError for a key that is none."""
    return GitHubApp(
        settings.app_id,
        settings.private_key(),
        api_url=settings.github_api_url,
        web_url=settings.github_web_url,
        api_version=settings.github_api_version,
        shared=shared,
    )


def who_we_are(settings: Settings, identity: Identity) -> Me:
    """How we are known, and whom we listen to."""
    return Me(
        app_id=identity.app_id,
        slug=identity.slug,
        bot_id=identity.bot_id,
        handles=tuple(dict.fromkeys((settings.handle, identity.slug))),
        label=settings.label,
        allowed_bots=frozenset(settings.allowed_bots),
    )


async def open_boxes(settings: Settings) -> Boxes:
    """Where turns run. Raises ValueError for boxes on Kubernetes without an image, or without a way to the service."""
    if settings.boxes == "local":
        readable = [path for path in settings.box_readable.split(os.pathsep) if path]
        return LocalBoxes(settings.folder / "boxes", walls=settings.box_walls, readable=readable)
    options = settings.box_pod
    if settings.box_image:
        options = options.model_copy(update={"image": settings.box_image})
    if not options.image:
        raise ValueError("no image for the boxes: set GREENLOOP_BOX_IMAGE")
    log.info("boxes.open", namespace=settings.box_namespace, reach_us_at=settings.box_service_url)
    kubeconfig = settings.kubeconfig.expanduser() if settings.kubeconfig else None
    return await KubernetesBoxes.connect(
        settings.box_namespace, settings.instance, options, owner=settings.box_owner, kubeconfig=kubeconfig
    )


@contextlib.asynccontextmanager
async def open_loop(
    settings: Settings, redis_url: str, worker: str, on_box_lost: Callable[[str], None] = lambda state: None
) -> AsyncIterator[Loop]:
    """The surroundings of one worker's steps, closed at the end of the block. Raises what `identity_of` does."""
    async with contextlib.AsyncExitStack() as stack:
        database = Database(settings.database, info=settings.told_of)
        stack.push_async_callback(database.close)
        bus = Bus(redis_url)
        await bus.start()
        stack.push_async_callback(bus.close)
        rate_limits = SharedRateLimits(database, redis_url)
        stack.push_async_callback(rate_limits.close)
        github = open_github(settings, rate_limits)
        stack.push_async_callback(github.aclose)
        boxes = await open_boxes(settings)
        stack.push_async_callback(boxes.close)
        yield Loop(
            options=settings,
            database=database,
            bus=bus,
            leases=Leases(database, worker, settings.lease_seconds),
            github=github,
            me=who_we_are(settings, await identity_of(github, database)),
            boxes=boxes,
            vault=Vault(settings.encryption_key_list()),
            instance=settings.instance,
            service_url=settings.box_service_url,
            web_url=settings.github_web_url.rstrip("/"),
            box_key=box_key(settings.encryption_key_list()),
            on_box_lost=on_box_lost,
        )


def open_web(settings: Settings, redis_url: str) -> Starlette:
    """The web application with everything it needs of GitHub."""
    owned = contextlib.AsyncExitStack()
    database = Database(settings.database, info=settings.told_of)
    owned.push_async_callback(database.close)
    rate_limits = SharedRateLimits(database, redis_url)
    owned.push_async_callback(rate_limits.close)
    github = open_github(settings, rate_limits)
    owned.push_async_callback(github.aclose)
    vault = Vault(settings.encryption_key_list())
    repositories = CloneTokens(github, settings.github_web_url)
    return create_app(
        settings,
        redis_url=redis_url,
        fetch_tokens=repositories,
        credentials=TurnCredentials(database, vault),
        models=ModelGateway(database, vault, settings.price_of),
        git=GitGateway(database, vault, repositories, settings.submodules),
        github=github,
        owned=owned,
    )
