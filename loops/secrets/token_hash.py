"""What is stored of a token that we made: enough to know it again, too little to use it."""

import hashlib


def token_hash(token: str) -> str:
    """SHA-256, in hex. Our tokens are random, so no salt and no slow hash is needed."""
    return hashlib.sha256(token.encode("utf-8", "surrogateescape")).hexdigest()
