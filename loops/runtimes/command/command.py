"""The command line of the `command` runtime: the program, with its prompt on stdin."""

from loops.runtimes.base import Invocation, TurnRequest, executable


def command(turn: TurnRequest) -> Invocation:
    """`turn.program`, split as a shell would split it; no shell is involved.

    Raises ValueError when it is empty or its quotes do not close.
    """
    argv = tuple(executable(turn, ""))
    if not argv:
        raise ValueError('The "command" runtime needs a program: set the agent command, for example "python agent.py".')
    env = {name: value for name, value in (("GREENLOOP_MODEL", turn.model),) if value}
    return Invocation(argv=argv, env={**env, **turn.env}, stdin=turn.prompt)
