"""What the commands that keep secrets have in common: the vault, and a secret from standard input."""

import asyncio
import sys
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Any

import typer

from app.commands.common import one_line_errors, opened

if TYPE_CHECKING:
    from loops.secrets.vault import Vault
    from loops.store.database import Database


def with_vault(work: "Callable[[Database, Vault], Coroutine[Any, Any, Any]]") -> Any:
    """What `work(database, vault)` comes to."""
    from app.settings import Settings
    from loops.secrets.vault import Vault

    async def run(settings: Settings) -> Any:
        async with opened(settings) as database:
            return await work(database, Vault(settings.encryption_key_list()))

    with one_line_errors():
        return asyncio.run(run(Settings()))


def read_secret(command: str) -> str:
    """A secret from standard input, so that no shell remembers it; one line end at its end is none of it."""
    value = sys.stdin.read().removesuffix("\n").removesuffix("\r")
    if not value.strip():
        print(f"greenloop {command}: no secret on standard input", file=sys.stderr)
        raise typer.Exit(2)
    return value
