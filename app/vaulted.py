"""What the commands that keep secrets have in common: the database and the vault, and errors in one line."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    from loops.database import Database
    from loops.vault import Vault


def with_vault(work: "Callable[[Database, Vault], Coroutine[Any, Any, Any]]") -> Any:
    """What `work(database, vault)` comes to; what cannot be used or found ends in one line and the exit code 2."""
    from app.serve import setting_errors
    from app.settings import Settings
    from loops.accounts import UnknownOwner
    from loops.box_secrets import CannotPrepare
    from loops.database import Database
    from loops.env_secrets import BadSecret, UnknownTarget
    from loops.vault import Vault

    async def run() -> Any:
        settings = Settings()
        database = Database(settings.database)
        try:
            return await work(database, Vault(settings.encryption_key_list()))
        finally:
            await database.close()

    with setting_errors():
        try:
            return asyncio.run(run())
        except (UnknownOwner, UnknownTarget, BadSecret, CannotPrepare) as error:
            print(f"greenloop: {error}", file=sys.stderr)
            raise typer.Exit(2) from None


def read_secret(command: str) -> str:
    """A secret from standard input, so that no shell remembers it; one line end at its end is none of it."""
    value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value.strip():
        print(f"greenloop {command}: no secret on standard input", file=sys.stderr)
        raise typer.Exit(2)
    return value
