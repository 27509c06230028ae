"""Which label asks us to work: the repository's, where it names one. Only this says whether a label is ours."""

from collections.abc import Iterable

from sqlalchemy import select

from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle
from github.repositories import queries
from github.repositories.config import RepositoryConfig
from github.webhooks.identity import Me
from loops.context import Loop
from loops.store.tables import Session


def label_of(me: Me, config: RepositoryConfig) -> str:
    """The label of a repository with these settings."""
    return config.label if "label" in config.model_fields_set else me.label


def is_among(label: str, names: Iterable[str]) -> bool:
    """Whether `label` is one of these names, as GitHub compares labels."""
    return label.lower() in {name.lower() for name in names}


async def is_ours(loop: Loop, repo: RepositoryHandle, label: str) -> bool:
    """Whether setting `label` in this repository asks us."""
    loaded = await queries.settings(repo)
    return is_among(label_of(loop.me, loaded.config), [label])


async def was_ours(loop: Loop, repo: RepositoryHandle, label: str) -> bool:
    """The same where the settings may not be readable now: then by those that were read last."""
    try:
        return await is_ours(loop, repo, label)
    except GitHubError:
        async with loop.database.read() as tx:
            query = select(Session.config).where(Session.repository_id == repo.id, Session.config.is_not(None))
            config = (await tx.execute(query.order_by(Session.id.desc()).limit(1))).scalar_one_or_none()
        return is_among(str((config or {}).get("label") or loop.me.label), [label])
