"""`greenloop profile`: the provider accounts that agents run with; and `greenloop rotate-keys`."""

import sys
import time
from datetime import UTC, datetime
from typing import Annotated, Any

import typer

from app.commands.vaulted import read_secret, with_vault

profile = typer.Typer(no_args_is_help=True, help="Provider accounts that agents run with, secrets encrypted.")


@profile.command()
def add(
    installation: Annotated[
        str, typer.Argument(metavar="INSTALLATION", help="Login of the account that installed the App.")
    ],
    name: Annotated[str, typer.Argument(metavar="NAME", help="A name of your choice.")],
    provider: Annotated[str, typer.Option(help="anthropic, openai, openrouter, …")],
    kind: Annotated[
        str,
        typer.Option(
            help="api_key, none, opencode_auth_json (ChatGPT), anthropic_oauth_json, anthropic_oauth_token, "
            "aws_bearer_token, aws_access_key or google_service_account."
        ),
    ] = "api_key",
    person: Annotated[str | None, typer.Option(help="Login of the person it belongs to; else everybody's.")] = None,
    model: Annotated[str | None, typer.Option(help="Model, as the runtime names it.")] = None,
    base_url: Annotated[str | None, typer.Option(help="Endpoint, where it is not the provider's usual one.")] = None,
    default: Annotated[bool, typer.Option("--default", help="Use it where nobody chooses.")] = False,
    fallback: Annotated[
        str | None, typer.Option(help="Name of the account to go on with while the provider refuses this one.")
    ] = None,
) -> None:
    """Keep an account. The secret is read from standard input, so that no shell remembers it."""
    from loops.accounts.accounts import NewAccount
    from loops.accounts.accounts import add as keep

    secret = read_secret("profile add").strip()
    wanted = NewAccount(installation, name, provider, kind, secret, person, model, base_url, default, fallback)
    kept = with_vault(lambda database, vault: keep(database, vault, wanted, time.time()))
    print(f"{kept.id}: {kept.name} ({kept.provider}), runtimes: {', '.join(kept.runtimes)}")


@profile.command("list")
def list_() -> None:
    """Show the accounts and the runtimes that each can drive."""
    from loops.accounts.accounts import listed

    found = with_vault(lambda database, _vault: listed(database))
    if not found:
        print("there is no account: see `greenloop profile add --help`", file=sys.stderr)
    for each in found:
        owner = f"person {each.person_id}" if each.person_id else "everybody"
        mark = " default" if each.is_default else ""
        runtimes = ", ".join(each.runtimes)
        mark += f", else {each.fallback}" if each.fallback else ""
        if each.limited_until is not None and each.limited_until > time.time():
            until = datetime.fromtimestamp(each.limited_until, UTC)
            mark += f"; its provider refused it ({each.limited_why}): left alone until {until:%Y-%m-%d %H:%M} UTC"
        print(f"{each.id}: {each.name} ({each.provider}, {each.credential_kind}) for {owner}: {runtimes}{mark}")


@profile.command()
def test(
    account: Annotated[int, typer.Argument(metavar="ACCOUNT", help="Its number in `profile list`.")],
    runtime: Annotated[str, typer.Option(help="As which agent; by default the first that the account runs.")] = "",
    model: Annotated[str, typer.Option(help="Another model than the account's.")] = "",
) -> None:
    """Ask the account's model a question of one line, on the way that turns take, and say what came of it.

    The exit code is 1 where an agent would have failed.
    """
    from app.gateway.trial import Tried, try_account
    from app.logging import configure
    from loops.accounts.accounts import account_of

    configure("error", json=False)

    async def tried(database: Any, vault: Any) -> Tried | None:
        found = await account_of(database, account)
        return await try_account(database, vault, found, runtime=runtime, model=model) if found is not None else None

    told = with_vault(tried)
    if told is None:
        print(f"greenloop profile test: there is no account {account}", file=sys.stderr)
        raise typer.Exit(1)
    print(told.sentence)
    for line in told.details(operator=True):
        print(f"  {line}")
    raise typer.Exit(0 if told.failure is None else 1)


@profile.command()
def remove(account: Annotated[int, typer.Argument(metavar="ACCOUNT", help="Its number in `profile list`.")]) -> None:
    """Forget an account and its secret."""
    from loops.accounts.accounts import remove as forget

    if not with_vault(lambda database, _vault: forget(database, account)):
        print(f"greenloop profile remove: there is no account {account}", file=sys.stderr)
        raise typer.Exit(1)


def rotate_keys() -> None:
    """Encrypt every stored secret anew with the first of the encryption keys; then the old ones can go."""
    from loops.accounts.accounts import rotate

    count = with_vault(rotate)
    print(f"{count} secrets are encrypted with the newest key")
