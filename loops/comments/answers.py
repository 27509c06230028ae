"""Short answers to people, other than the sticky comment. Pure."""

from collections.abc import Sequence

from github.client.defuse import defused
from loops.comments.public_text import public_text


def help_text(handle: str) -> str:
    """What can be asked for."""
    name = f"@{handle}"
    return f"""`{name}` works on this issue or pull request in a box of your own and opens a pull request.

| comment | what happens |
| --- | --- |
| `{name} fix the login page` | an agent works on it; words after the mention are the task |
| `{name}` | it works on the issue or pull request as it stands |
| `{name} retry` | once more with the same task; words beside it are added |
| `{name} stop` | the work on this issue or pull request ends now |
| `{name} status` | the comment with the state is brought up to date |
| `{name} approve COMMIT` | that commit of a fork is worked on, and its code runs in CI here |
| `{name} autofix on` or `autofix off` | repairs of red checks here, or none |

Options, anywhere on the line, for that task: `--runtime NAME`, `--model NAME`, `--base BRANCH`, `--cap N`."""


def problems(found: Sequence[str], handle: str) -> str:
    """Why a mention was not taken."""
    listed = "\n".join(f"- {defused(problem)}" for problem in found)
    return f"I did not start, because I could not read all of this:\n\n{listed}\n\n`@{handle} help` shows what I take."


def cannot_run(reason: str, handle: str) -> str:
    """Why no agent was started."""
    return f"I did not start: {defused(public_text(reason, ()))}\n\n`@{handle} help` shows what can be asked for."


def nothing_open(handle: str) -> str:
    """Something was asked of work that is not there."""
    return f"Nothing of mine is open here. `@{handle} help` shows what can be asked for."


def no_right(login: str, handle: str) -> str:
    """Somebody asked who may not."""
    return (
        f"{login}, I take requests only from people with write access to this repository, so I did nothing. Somebody "
        f"who has it can ask for you: with `@{handle}` in a comment, or by assigning me."
    )


def nothing_to_repeat(handle: str) -> str:
    """A retry where nobody asked for anything yet."""
    return (
        f"There is nothing here that I could do once more. Mention `@{handle}` with what to do, or alone: then I work "
        f"on this as it stands. `@{handle} help` shows what can be asked for."
    )


def nothing_to_approve(handle: str) -> str:
    """An approval where there is no fork."""
    return f"Nothing here waits for an approval: this comes from no fork. `@{handle} help` shows what I take."


def repairs(on: bool, handle: str) -> str:
    """Repairs of red checks were switched on or off."""
    if on:
        return f"I repair red checks here again. `@{handle} retry` starts at once."
    return f"I leave red checks here alone from now on, until `@{handle} autofix on`. What you ask for, I still do."


def broken(reason: str) -> str:
    """Something of ours is broken: the person still gets an answer."""
    why = defused(reason)
    return f"I could not take this up, and it is not your fault: {why}. It is recorded; please try again later."
