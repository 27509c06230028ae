"""Addresses and ranges of addresses."""

import ipaddress
import re
from collections.abc import Iterator

Network = ipaddress.IPv4Network | ipaddress.IPv6Network


def ip(text: str) -> Iterator[str]:
    """What is wrong with an address."""
    if "%" in text or _address(text) is None:
        yield "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"
    elif _leading_zero(text, ""):
        yield "must not have leading 0s"
    elif isinstance(found := _address(text), ipaddress.IPv6Address) and found.ipv4_mapped:
        yield "must not be an IPv4-mapped IPv6 address"


def external(text: str) -> Iterator[str]:
    """What is wrong with an address outside the cluster."""
    wrong = list(ip(text))
    yield from wrong
    if wrong:
        return
    found = ipaddress.ip_address(text)
    if found.is_unspecified:
        yield f"may not be unspecified ({text})"
    if found.is_loopback:
        yield "may not be in the loopback range (127.0.0.0/8, ::1/128)"
    if found.is_link_local:
        yield "may not be in the link-local range (169.254.0.0/16, fe80::/10)"


def cidr(text: str) -> Iterator[str]:
    """What is wrong with a range of addresses. Since 1.36 the odd spellings are refused too."""
    if network(text) is None:
        yield "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"
        return
    address, _, bits = text.partition("/")
    if _leading_zero(address, bits):
        yield "must not have leading 0s in IP or prefix length"
    elif isinstance(found := ipaddress.ip_address(address), ipaddress.IPv6Address) and found.ipv4_mapped:
        yield "must not have an IPv4-mapped IPv6 address"
    elif ipaddress.ip_network(text, strict=False).network_address != found:
        yield "must not have bits set beyond the prefix length"


def network(text: str) -> Network | None:
    """The range, as Go reads it: an IPv4-mapped one is one of IPv4 addresses."""
    address, slash, bits = text.partition("/")
    if not slash or not bits.isdigit() or "%" in address:
        return None
    try:
        found = ipaddress.ip_network(f"{_plain(address)}/{int(bits)}", strict=False)
    except ValueError:
        return None
    if isinstance(found, ipaddress.IPv6Network) and found.prefixlen >= 96 and found.network_address.ipv4_mapped:
        return ipaddress.IPv4Network((found.network_address.ipv4_mapped, found.prefixlen - 96))
    return found


def _address(text: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(_plain(text))
    except ValueError:
        return None


def _plain(address: str) -> str:
    """Without the leading zeros that Go reads over."""
    if "." not in address or ":" in address:
        return address
    return ".".join(part.lstrip("0") or "0" if part.isdigit() else part for part in address.split("."))


def _leading_zero(address: str, bits: str) -> bool:
    dotted = "." in address and ":" not in address
    return bool(re.fullmatch(r"0\d+", bits)) or (dotted and any(re.fullmatch(r"0\d+", p) for p in address.split(".")))
