"""The `greenloop` command, also as `python -m app`."""

import sys


def main() -> None:
    """Run the command line."""
    # without options there is nothing to parse, and to import what parses takes longer than to distil most logs
    if sys.argv[1:] == ["distill"] and sys.stdin is not None and not sys.stdin.isatty():
        from app.commands.excerpt import excerpt

        excerpt()
    else:
        from app.commands.cli import main as commands

        commands()


if __name__ == "__main__":
    main()
