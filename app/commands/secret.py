"""`greenloop secret`: named secrets that a repository's tests get as an env file (`env_secrets` in its settings)."""

import sys
import time
from typing import Annotated

import typer

from app.commands.vaulted import read_secret, with_vault

secret = typer.Typer(
    no_args_is_help=True,
    help="Secrets for repositories' tests, encrypted; `env_secrets` in .github/greenloop.yml asks for them by name.",
)

TargetArgument = Annotated[
    str, typer.Argument(metavar="OWNER/REPO", help="A repository; OWNER alone: all of its repositories.")
]
NameArgument = Annotated[str, typer.Argument(metavar="NAME", help="The environment variable.")]


@secret.command("set")
def set_(target: TargetArgument, name: NameArgument) -> None:
    """Keep a secret, or replace it. Its value is read from standard input."""
    from loops.secrets.env_secrets import put

    value = read_secret("secret set")
    with_vault(lambda database, vault: put(database, vault, target, name, value, time.time()))
    print(f"{name} is kept for {target}")


@secret.command("list")
def list_(target: TargetArgument) -> None:
    """Show the names, and when each was set. Values are never shown."""
    from loops.secrets.env_secrets import listed

    found = with_vault(lambda database, _vault: listed(database, target))
    if not found:
        print(f"{target} has no secrets", file=sys.stderr)
    for name, at in found:
        print(f"{name}  {time.strftime('%Y-%m-%d %H:%M', time.localtime(at))}")


@secret.command()
def remove(target: TargetArgument, name: NameArgument) -> None:
    """Forget a secret."""
    from loops.secrets.env_secrets import remove as forget

    if not with_vault(lambda database, _vault: forget(database, target, name)):
        print(f"greenloop secret remove: {target} has no secret {name}", file=sys.stderr)
        raise typer.Exit(1)
