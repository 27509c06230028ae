"""`greenloop profile`: the provider accounts that agents run with; and `greenloop rotate-keys`."""

import asyncio
import sys
import time
from collections.abc import Callable, Coroutine
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from loops.database import Database
    from loops.vault import Vault

profile = typer.Typer(no_args_is_help=True, help="Provider accounts that agents run with, secrets encrypted.")


@profile.command()
def add(
    installation: Annotated[str, typer.Argument(help="Login of the account that installed the App.")],
    name: Annotated[str, typer.Argument(help="A name of your choice.")],
    provider: Annotated[str, typer.Option(help="anthropic, openai, openrouter, …")],
    kind: Annotated[str, typer.Option(help="api_key, opencode_auth_json or anthropic_oauth_json.")] = "api_key",
    person: Annotated[str | None, typer.Option(help="Login of the person it belongs to; else everybody's.")] = None,
    model: Annotated[str | None, typer.Option(help="Model, as the runtime names it.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Endpoint, where it is not the provider's usual one.")] = None,
    default: Annotated[bool, typer.Option("--default", help="Use it where nobody chooses.")] = False,
) -> None:
    """Keep an account. The secret is read from standard input, so that no shell remembers it."""
    from loops.accounts import NewAccount
    from loops.accounts import add as keep

    secret = sys.stdin.read().strip()
    if not secret:
        print("greenloop profile add: no secret on standard input", file=sys.stderr)
        raise typer.Exit(2)
    wanted = NewAccount(installation, name, provider, kind, secret, person, model, base_url, default)
    kept = _run(lambda database, vault: keep(database, vault, wanted, time.time()))
    print(f"{kept.id}: {kept.name} ({kept.provider}), runtimes: {', '.join(kept.runtimes)}")


@profile.command("list")
def list_() -> None:
    """Show the accounts and the runtimes that each can drive."""
    from loops.accounts import listed

    for each in _run(lambda database, _vault: listed(database)):
        owner = f"person {each.person_id}" if each.person_id else "everybody"
        mark = " default" if each.is_default else ""
        runtimes = ", ".join(each.runtimes)
        print(f"{each.id}: {each.name} ({each.provider}, {each.credential_kind}) for {owner}: {runtimes}{mark}")


@profile.command()
def remove(account: Annotated[int, typer.Argument(help="Its number in `profile list`.")]) -> None:
    """Forget an account and its secret."""
    from loops.accounts import remove as forget

    if not _run(lambda database, _vault: forget(database, account)):
        print(f"greenloop profile remove: there is no account {account}", file=sys.stderr)
        raise typer.Exit(1)


def rotate_keys() -> None:
    """Encrypt every stored secret anew with the first of the encryption keys; then the old ones can go."""
    from loops.accounts import rotate

    count = _run(rotate)
    print(f"{count} secrets are encrypted with the newest key")


def _run(work: "Callable[[Database, Vault], Coroutine[Any, Any, Any]]") -> Any:
    from app.serve import setting_errors
    from app.settings import Settings
    from loops.accounts import UnknownOwner
    from loops.box_secrets import CannotPrepare
    from loops.database import Database
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
        except (UnknownOwner, CannotPrepare) as error:
            print(f"greenloop: {error}", file=sys.stderr)
            raise typer.Exit(2) from None
