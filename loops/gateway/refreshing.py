"""Logins whose tokens end are refreshed here, by one process at a time: a refresh token is good for one refresh."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace
from typing import Any, Final

import structlog
from sqlalchemy import select, update
from sqlalchemy.ext.asyncio import AsyncSession

from loops.gateway.upstreams import Account
from loops.runtimes import profiles
from loops.runtimes.login import Login, Tokens
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.tables import Profile

log = structlog.get_logger(__name__)

CLAIM_SECONDS: Final = 40.0
"""How long a process that refreshes a login keeps the others from it, also when it dies over that."""
LOOK_AGAIN: Final = 0.2

Post = Callable[[str, Mapping[str, str]], Awaitable[tuple[int, Any]]]
"""Sends a JSON object to a URL: (status, the answer's JSON). Raises OSError or TimeoutError where nobody answers."""


class LoginRefused(Exception):
    """The login is good no more: whose it is has to sign in again."""


class LoginUnreachable(Exception):
    """It could not be refreshed now."""


class Refresher:
    """Refreshes the logins of accounts, and keeps what comes of it.

    Who dies between the provider's answer and the database's has lost the login: nothing can be done against that, and
    it takes milliseconds.
    """

    def __init__(self, database: Database, vault: Vault, post: Post, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._vault = vault
        self._post = post
        self._clock = clock
        self._running: dict[int, asyncio.Task[str]] = {}

    async def current(self, account: Account, refused: str = "") -> Account:
        """The account with tokens that are good for a while; `refused`: an access token that its provider took no more.

        Raises LoginRefused, LoginUnreachable, and ValueError for a login that is none.
        """
        login = profiles.login_of(account.kind)
        if login is None or not login.token_url or not self._is_due(login.read(account.secret), refused):
            return account
        task = self._running.get(account.id)
        if task is None:
            # in a task of its own: who waits may go away, and what was refreshed must be kept
            task = self._running[account.id] = asyncio.create_task(self._refresh(account.id, login, refused))
            task.add_done_callback(lambda _: self._running.pop(account.id, None))
        return replace(account, secret=await asyncio.shield(task))

    async def close(self) -> None:
        """Let what is under way come to its end."""
        await asyncio.gather(*self._running.values(), return_exceptions=True)

    def _is_due(self, tokens: Tokens, refused: str) -> bool:
        return tokens.is_due(self._clock()) or (bool(refused) and tokens.access == refused)

    async def _refresh(self, profile: int, login: Login, refused: str) -> str:
        while True:
            async with self._database.write() as tx:
                sealed, stored, claimed = await self._claim(tx, profile, login, refused)
            if not self._is_due(login.read(stored), refused):
                return stored
            if claimed:
                break
            await asyncio.sleep(LOOK_AGAIN)
        written = ""
        try:
            written = await self._written(login, stored)
        finally:
            values: dict[str, Any] = {"refreshing_until": None}
            if written:
                values |= {"secret": self._vault.encrypt(written), "updated_at": self._clock()}
            async with self._database.write() as tx:
                # a login that somebody stored meanwhile is newer than what came of the former one
                ours = update(Profile).where(Profile.id == profile, Profile.secret == sealed)
                await tx.execute(ours.values(**values))
        log.info("login.refreshed", profile=profile)
        return written

    async def _claim(self, tx: AsyncSession, profile: int, login: Login, refused: str) -> tuple[bytes, str, bool]:
        """(the login as it is stored now, sealed and in the clear, whether it is ours to refresh)."""
        found = await tx.execute(select(Profile).where(Profile.id == profile).with_for_update())
        row = found.scalar_one_or_none()
        if row is None:
            raise LoginRefused("The account was removed meanwhile.")
        stored, now = self._vault.decrypt(row.secret), self._clock()
        if not self._is_due(login.read(stored), refused) or (row.refreshing_until or 0) > now:
            return row.secret, stored, False
        row.refreshing_until = now + CLAIM_SECONDS
        return row.secret, stored, True

    async def _written(self, login: Login, stored: str) -> str:
        tokens = login.read(stored)
        if not tokens.refresh:
            raise LoginRefused("The account's login is over, and holds nothing to refresh it with: sign in again.")
        try:
            status, answer = await self._post(login.token_url, login.request(tokens))
        except (OSError, TimeoutError) as error:
            raise LoginUnreachable(f"The account's login cannot be refreshed now: {type(error).__name__}.") from None
        if status in (400, 401, 403):
            log.warning("login.refused", status=status)
            raise LoginRefused("The account's login was refused by its provider: sign in again, and store the new one.")
        if status != 200 or not isinstance(answer, dict):
            raise LoginUnreachable(f"The account's login cannot be refreshed now: its provider answered {status}.")
        try:
            return login.written(stored, answer, self._clock())
        except ValueError as error:
            raise LoginUnreachable(f"The account's login cannot be refreshed now: {error}.") from None
