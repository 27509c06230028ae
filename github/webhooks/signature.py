"""Webhook signatures: HMAC-SHA256 over the raw body, in `X-Hub-Signature-256`.

githubkit's own takes SHA-1 as well, secrets that are text only, and raises for a header that is not ASCII.
"""

import hashlib
import hmac
from collections.abc import Sequence

PREFIX = b"sha256="


def sign(secret: bytes, body: bytes) -> str:
    """The header value for `body`, as GitHub would send it. Raises ValueError for an empty secret."""
    if not secret:
        raise ValueError("the webhook secret is empty: set one, in the App's settings and here")
    return "sha256=" + hmac.new(secret, body, hashlib.sha256).hexdigest()


def verify(secrets: Sequence[bytes], body: bytes, header: str | bytes | None) -> bool:
    """Whether `header` signs `body` with one of `secrets` (several while a secret is being changed).

    Compares bytes in constant time and always tries every secret. A missing, malformed or non-ASCII header is False.
    Raises ValueError if there is no secret or an empty one: then anybody could sign.
    """
    if not secrets or not all(secrets):
        raise ValueError("a webhook secret is missing or empty: set one, in the App's settings and here")
    given = header.encode("utf-8", "surrogateescape") if isinstance(header, str) else header or b""
    good = False
    for secret in secrets:
        wanted = PREFIX + hmac.new(secret, body, hashlib.sha256).hexdigest().encode()
        good |= hmac.compare_digest(wanted, given)
    return good
