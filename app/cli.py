"""The command line. Each command imports what it needs when it runs, so that `greenloop distill` starts at once."""

from typing import Annotated

import typer

from app.demo.command import demo
from app.distill import distill
from app.doctor import doctor
from app.local_github import local_github
from app.profile import profile, rotate_keys
from app.replay import replay
from app.secret import secret
from app.serve import migrate, up, web, worker
from app.session import session
from app.setup import setup


def _version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        print(metadata.version("greenloop"))
        raise typer.Exit


main = typer.Typer(
    name="greenloop",
    help="A GitHub App that your team hosts itself: mention it, get a pull request, have it repaired until green.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


@main.callback()
def greenloop(
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")] = (
        False
    ),
) -> None:
    """Takes what stands before a command."""


for command in (demo, setup, up, web, worker, migrate, distill, replay, doctor):
    main.command()(command)
main.command("github")(local_github)
main.add_typer(session)
main.command("rotate-keys")(rotate_keys)
main.add_typer(profile, name="profile")
main.add_typer(secret, name="secret")
