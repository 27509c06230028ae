"""Tokens that a box fetches a repository with: read-only, for one repository, ended right after the fetch."""

from dataclasses import dataclass

from github.client import errors
from github.client.app import GitHubApp
from github.client.repository import RepositoryHandle
from github.client.scopes import CLONE
from loops.accounts.box_secrets import CannotPrepare, FetchToken


@dataclass(frozen=True)
class CloneTokens:
    """Mints them at GitHub, just before use."""

    github: GitHubApp
    web_url: str

    async def mint(self, installation_id: int, repository_id: int) -> FetchToken:
        """Raises CannotPrepare when GitHub will not give one."""
        try:
            name = await RepositoryHandle(self.github, installation_id, repository_id).full_name()
            token = await self.github.mint(installation_id, [repository_id], CLONE)
        except (errors.NotFound, errors.Forbidden, errors.Invalid) as error:
            raise CannotPrepare(f"no token to fetch repository {repository_id}: {error}") from error
        return FetchToken(url=f"{self.web_url.rstrip('/')}/{name}.git", token=token.value)

    async def revoke(self, token: str) -> None:
        await self.github.revoke(token)
