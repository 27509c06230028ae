"""Tokens that a repository is read with: for that one repository, and no more than reading.

The git gateway reads with them on behalf of boxes, which hold none. Only turns that the former release handed out fetch
by themselves: theirs are minted for one fetch and ended right after it.
"""

import base64

from app.gateway.git.upstream import Origin
from github.client import errors
from github.client.app import GitHubApp
from github.client.repository import RepositoryHandle
from github.client.scopes import CLONE
from github.client.tokens import Token, TokenBook
from loops.accounts.box_secrets import CannotPrepare, FetchToken


class CloneTokens:
    """Mints them at GitHub, just before use; the gateway's are kept in memory until shortly before their end."""

    def __init__(self, github: GitHubApp, web_url: str) -> None:
        self._github = github
        self._web_url = web_url.rstrip("/")
        self._kept = TokenBook(github.clock)

    async def mint(self, installation_id: int, repository_id: int) -> FetchToken:
        """Raises CannotPrepare when GitHub will not give one."""
        try:
            name = await self._repository(installation_id, repository_id).full_name()
            token = await self._minted(installation_id, repository_id)
        except errors.GitHubError as error:
            raise _refused(repository_id, error) from error
        return FetchToken(url=self._url(name), token=token.value)

    async def revoke(self, token: str) -> None:
        await self._github.revoke(token)

    async def origin(self, installation_id: int, repository_id: int, *, afresh: bool = False) -> Origin:
        """Where the repository is now, and what to read it with. Raises CannotPrepare."""
        key = (installation_id, repository_id)
        repository = self._repository(installation_id, repository_id)
        if afresh:
            self._kept.drop_all(lambda kept: kept == key)
        try:
            name = await (repository.refresh_name() if afresh else repository.full_name())
            token = await self._kept.get(key, lambda: self._minted(installation_id, repository_id))
        except errors.GitHubError as error:
            raise _refused(repository_id, error) from error
        login = base64.b64encode(f"x-access-token:{token.value}".encode()).decode()
        return Origin(self._url(name), f"Basic {login}")

    async def _minted(self, installation_id: int, repository_id: int) -> Token:
        return await self._github.mint(installation_id, [repository_id], CLONE)

    def _repository(self, installation_id: int, repository_id: int) -> RepositoryHandle:
        return RepositoryHandle(self._github, installation_id, repository_id)

    def _url(self, name: str) -> str:
        return f"{self._web_url}/{name}.git"


def _refused(repository_id: int, error: errors.GitHubError) -> CannotPrepare:
    return CannotPrepare(f"no token to read repository {repository_id}: {error}")
