"""Whether somebody on this very machine asks, past no proxy. Pure."""

import ipaddress
from urllib.parse import urlsplit

from starlette.requests import HTTPConnection

FORWARDED = ("forwarded", "via", "x-forwarded-for", "x-forwarded-host", "x-forwarded-proto", "x-real-ip")


def local(connection: HTTPConnection, public_url: str) -> bool:
    """True only if everything says so: our own address, the caller's, the name it called us by, and no proxy's header.

    The name keeps pages of other sites out that point their own name at 127.0.0.1; a `public_url` that is elsewhere
    means that a proxy may stand in front that adds no header.
    """
    server, client = connection.scope.get("server"), connection.scope.get("client")
    return (
        loopback(urlsplit(public_url).hostname)
        and loopback(server[0] if server else None)
        and loopback(client[0] if client else None)
        and loopback(urlsplit(f"//{connection.headers.get('host', '')}").hostname)
        and not any(name in connection.headers for name in FORWARDED)
    )


def loopback(host: str | None) -> bool:
    """Whether a host name or address is this machine and nothing else."""
    if host is None:
        return False
    try:
        return host == "localhost" or ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
