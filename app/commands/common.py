"""What the commands have in common: errors that end them in one line, and the database they work on."""

import contextlib
import errno
import os
import select
import signal
import socket
import sys
from collections.abc import AsyncIterator, Iterator
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from pydantic import ValidationError

    from app.settings import Settings
    from loops.store.database import Database

EVERYWHERE = "::"

PortOption = Annotated[int, typer.Option(min=0, max=65535, help="Port to listen on; 0 takes a free one.")]


@contextlib.contextmanager
def local_github_needed(command: str) -> Iterator[None]:
    """End the command in one line where this installation leaves out what only the demo needs, as the image does."""
    try:
        yield
    except ModuleNotFoundError as error:
        if error.name not in ("github.emulator", "loops.runtimes.scripted", "graphql"):
            raise
        _end(
            f"`greenloop {command}` needs the local GitHub, and this installation leaves {error.name} out: "
            "run `make demo` in a clone of the repository, and then `.venv/bin/greenloop` there"
        )


@contextlib.contextmanager
def one_line_errors() -> Iterator[None]:
    """What cannot be used, found or reached ends the command in one line and the exit code 2, not in a traceback."""
    from pydantic import ValidationError
    from pydantic_settings import SettingsError

    from app.process.valkey import RedisUnavailable
    from github.client.errors import GitHubError
    from loops.accounts.box_secrets import CannotPrepare
    from loops.operations import Unknown
    from loops.secrets.vault import VaultError
    from loops.store.lookup import UnknownOwner

    try:
        try:
            yield
        finally:
            sys.stdout.flush()
    except BrokenPipeError:
        if not reader_gone():
            raise
        _end_quietly()
    except ValidationError as error:
        _end(*_settings_lines(error))
    except SettingsError as error:
        _end(f"{error}: it is written as JSON ({error.__cause__})")
    except OSError as error:
        _end(f"{error.filename}: {error.strerror}" if error.filename else str(error))
    except (UnknownOwner, Unknown, CannotPrepare) as error:
        _end(str(error))
    except (ValueError, VaultError, GitHubError, RedisUnavailable) as error:
        _end(str(error))


def reader_gone() -> bool:
    """Whether whoever read our standard output has ended, as `head` does when it has seen enough."""
    with contextlib.suppress(OSError, ValueError):
        waiting = select.poll()
        waiting.register(sys.stdout.fileno(), 0)
        return any(what & (select.POLLERR | select.POLLNVAL) for _, what in waiting.poll(0))
    return False


def _end_quietly() -> None:
    """End as a program does that is told by SIGPIPE, and have nothing that is still held back fail once more."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, sys.stdout.fileno())
    os.close(nowhere)
    raise typer.Exit(128 + signal.SIGPIPE) from None


def _end(*lines: str) -> None:
    for line in lines:
        print(f"greenloop: {line}", file=sys.stderr)
    raise typer.Exit(2) from None


def _settings_lines(error: "ValidationError") -> Iterator[str]:
    for each in error.errors():
        name, *inside = (str(part) for part in each["loc"])
        yield ": ".join([f"GREENLOOP_{name.upper()}", *([".".join(inside)] if inside else []), each["msg"]])


@contextlib.asynccontextmanager
async def opened(settings: "Settings") -> AsyncIterator["Database"]:
    """The service's database, closed after the block. Raises ValueError with the way out where it cannot be used."""
    from loops.store.database import Database

    with database_errors():
        database = Database(settings.database, info=settings.told_of)
        try:
            yield database
        finally:
            await database.close()


@contextlib.contextmanager
def database_errors() -> Iterator[None]:
    """Turns what a database refuses, or that it does not answer, into a ValueError that says the way out."""
    from sqlalchemy.exc import SQLAlchemyError

    try:
        yield
    except (SQLAlchemyError, OSError) as error:
        if isinstance(error, BrokenPipeError) and reader_gone():
            raise
        said = str(getattr(error, "orig", None) or error).splitlines()[0]
        raise ValueError(
            f"the database cannot be used: {said}. Is GREENLOOP_DATABASE_URL right, and was `greenloop migrate` run?"
        ) from error


def listen(host: str, port: int, named_by: str = "--host or --port") -> socket.socket:
    """A listening socket, made before anything else is: a port that is taken must not stop a service half started.

    `::` is every address, of IPv4 as well, also where there is no IPv6. Connections inherit that Nagle's algorithm is
    off: asyncio turns it off only for sockets that name their protocol, and it costs 40 ms an answer. Raises ValueError
    with the way out.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    try:
        bound = _everywhere(port) if host == EVERYWHERE else socket.create_server((host, port), family=family)
        bound.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return bound
    except OSError as error:
        reason = (error.strerror or str(error)).partition(" (")[0]
        raise ValueError(f"cannot listen on {host}:{port}: {reason}; name another with {named_by}") from error


def _everywhere(port: int) -> socket.socket:
    if socket.has_dualstack_ipv6():
        try:
            return socket.create_server(("", port), family=socket.AF_INET6, dualstack_ipv6=True)
        except OSError as error:
            if error.errno != errno.EADDRNOTAVAIL:  # the kernel knows IPv6, and it is switched off
                raise
    return socket.create_server(("", port))
