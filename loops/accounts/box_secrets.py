"""What a box needs of our secrets, as the surface sees it: handed out with a turn, never stored with one."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from loops.store.tables import Turn


class CannotPrepare(Exception):
    """The turn's secrets cannot be had, now or later. The text is for the person who asked."""


@dataclass(frozen=True)
class FetchToken:
    """A read-only token for one repository, and where to fetch that repository."""

    url: str
    token: str = field(repr=False)
    username: str = "x-access-token"


class FetchTokens(Protocol):
    """Mints and revokes the tokens that boxes fetch with."""

    async def mint(self, installation_id: int, repository_id: int) -> FetchToken:
        """A token that can read this one repository."""
        ...

    async def revoke(self, token: str) -> None:
        """End the token; nothing happens for one that is over or unknown."""
        ...


class Credentials(Protocol):
    """The secrets of a turn's account and repository. Nothing that these return is ever stored in plain form.

    What was handed out is remembered, encrypted, with the turn. All of them raise CannotPrepare when that, or what it
    is made of, cannot be read.
    """

    async def materialise(self, turn: Turn) -> tuple[Mapping[str, str], Sequence[Mapping[str, Any]]]:
        """(environment, files in the shape of the runner's protocol) for the turn."""
        ...

    async def secrets(self, turn: Turn) -> Sequence[str]:
        """Every value that must not be shown in what the turn prints: what it was handed, fetch tokens too, and the
        account's own secret."""
        ...

    async def handed(self, turn: Turn) -> Sequence[str]:
        """Those of them that its box has anyway; the account's own key is none where the gateway uses it."""
        ...

    async def read_back(self, turn: Turn, files: Mapping[str, bytes]) -> Sequence[str]:
        """Keep what the turn's CLI wrote into its credential files (refreshed logins), by the path of the file. Returns
        the secrets in it."""
        ...

    async def lend(self, turn: Turn, token: str) -> None:
        """Remember a fetch token of the turn until it is `returned`."""
        ...

    async def returned(self, turn: Turn, token: str) -> None:
        """The fetch token is revoked."""
        ...

    async def lent(self, turn: Turn) -> Sequence[str]:
        """The turn's fetch tokens that are not revoked."""
        ...


class NoFetchTokens:
    """For a service without GitHub: nothing can be fetched."""

    async def mint(self, installation_id: int, repository_id: int) -> FetchToken:
        raise CannotPrepare(
            f"no token for repository {repository_id}: GitHub is not configured (GREENLOOP_APP_ID and its private key)"
        )

    async def revoke(self, token: str) -> None:
        return None


class NoCredentials:
    """For turns whose runtime needs no account."""

    async def materialise(self, turn: Turn) -> tuple[Mapping[str, str], Sequence[Mapping[str, Any]]]:
        return {}, []

    async def secrets(self, turn: Turn) -> Sequence[str]:
        return []

    async def handed(self, turn: Turn) -> Sequence[str]:
        return []

    async def read_back(self, turn: Turn, files: Mapping[str, bytes]) -> Sequence[str]:
        return ()

    async def lend(self, turn: Turn, token: str) -> None:
        return None

    async def returned(self, turn: Turn, token: str) -> None:
        return None

    async def lent(self, turn: Turn) -> Sequence[str]:
        return []
