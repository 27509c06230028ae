"""What Greenloop has to know of programs that are agents."""

from loops.runtimes.command.command import command
from loops.runtimes.command.stream import CommandParser
from loops.runtimes.spec import RuntimeSpec

SPEC = RuntimeSpec(
    name="command",
    title="a program of your own",
    help="Any program that reads its prompt on stdin; it brings its own account.",
    command=command,
    parser=CommandParser.begin,
    answers=False,
)
