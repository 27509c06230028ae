"""The command line. A command is imported when it is named, so that `greenloop distill` starts at once."""

from importlib import import_module
from typing import TYPE_CHECKING, Annotated, Any

import typer
from typer.core import TyperGroup
from typer.main import get_command, get_group

if TYPE_CHECKING:
    from typer._click import Command, Context

# each by its module and the function, or the group of functions, there
COMMANDS = {
    "demo": "app.demo.command:demo",
    "setup": "app.commands.setup:setup",
    "up": "app.commands.serve:up",
    "web": "app.commands.serve:web",
    "worker": "app.commands.serve:worker",
    "migrate": "app.commands.serve:migrate",
    "remove-boxes": "app.commands.remove_boxes:remove_boxes",
    "distill": "app.commands.distill:distill",
    "replay": "app.commands.replay:replay",
    "doctor": "app.commands.doctor.command:doctor",
    "github": "app.commands.local_github:local_github",
    "rotate-keys": "app.commands.profile:rotate_keys",
    "session": "app.commands.sessions.command:session",
    "login": "app.commands.server.login:login",
    "logout": "app.commands.server.login:logout",
    "profile": "app.commands.profile:profile",
    "secret": "app.commands.secret:secret",
}


class Commands(TyperGroup):
    """COMMANDS, of which only what is asked for is imported."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        # the names alone, for "did you mean"
        self.commands = dict.fromkeys(COMMANDS)  # type: ignore[assignment]

    def list_commands(self, ctx: "Context") -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: "Context", cmd_name: str) -> "Command | None":
        if cmd_name not in COMMANDS:
            return None
        module, _, name = COMMANDS[cmd_name].partition(":")
        found = getattr(import_module(module), name)
        if isinstance(found, typer.Typer):
            command: Command = get_group(found)
        else:
            alone = typer.Typer(add_completion=False)
            alone.command()(found)
            command = get_command(alone)
        command.name = cmd_name
        return command


def _version(wanted: bool) -> None:
    if wanted:
        from importlib import metadata

        print(metadata.version("greenloop"))
        raise typer.Exit


main = typer.Typer(
    cls=Commands,
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
