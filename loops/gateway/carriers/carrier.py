"""What a cloud does with a request. Pure."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from loops.gateway.endpoints import ModelRequest


@dataclass(frozen=True)
class Sent:
    """A request as it goes out; the URL is encoded already."""

    url: str
    headers: Mapping[str, str] = field(repr=False)
    body: bytes = field(repr=False)


class Unpacker(Protocol):
    """Reads a cloud's stream piece by piece."""

    def feed(self, piece: bytes) -> bytes:
        """The whole events in it, as the carried protocol has them. Raises ValueError for what is no such stream."""
        ...

    def end(self) -> None:
        """There is no more. Raises ValueError where an event is not whole."""
        ...


@dataclass(frozen=True)
class Carrier:
    """`request(base, secret, access, asked, passing, now)`: what is sent, with the headers of the agent's that go on;
    `access` is a token that was made of the secret. It raises ValueError, without quoting it, for a secret or an
    address that is none. `secrets(secret, access)` are the values that no answer may show. `unpacker` reads its
    streams, which have the content type `packed`; None: they are the carried protocol's own.
    """

    request: Callable[[str, str, str, ModelRequest, Mapping[str, str], float], Sent]
    secrets: Callable[[str, str], tuple[str, ...]]
    packed: str = ""
    unpacker: Callable[[], Unpacker] | None = None
