"""The command line of the `command` runtime: the program, with its prompt on stdin."""

from loops.runtimes.base import Invocation, TurnRequest, executable


def command(turn: TurnRequest) -> Invocation:
    """`turn.program`, split as a shell would split it; no shell is involved.

    Where there is an account, it may ask its model: it is told what a provider's library takes as base URL and key.
    Raises ValueError when it is empty or its quotes do not close.
    """
    argv = tuple(executable(turn, ""))
    if not argv:
        raise ValueError('The "command" runtime needs a program: set the agent command, for example "python agent.py".')
    env = {"GREENLOOP_MODEL": turn.model, "GREENLOOP_MODEL_URL": turn.base_url if turn.relay else ""}
    secret = {"GREENLOOP_MODEL_KEY": turn.credential.secret} if turn.relay else {}
    told = {name: value for name, value in env.items() if value}
    return Invocation(argv=argv, env={**told, **turn.env}, secret_env=secret, stdin=turn.prompt)
