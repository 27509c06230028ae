from importlib import metadata

from typer.testing import CliRunner

from app.commands.cli import main


def test_the_command_tells_its_version() -> None:
    assert CliRunner().invoke(main, ["--version"]).output == metadata.version("greenloop") + "\n"
