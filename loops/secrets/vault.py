"""Secrets at rest: encrypted with the first key of a list, readable with any of them."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path

from cryptography.fernet import Fernet, InvalidToken, MultiFernet


class VaultError(Exception):
    """A key or a secret that cannot be used. Never quotes either."""


class Vault:
    """Encrypts and decrypts text with Fernet (AES-128-CBC with HMAC-SHA256). `keys` are newest first."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise VaultError(
                "No encryption key: set GREENLOOP_ENCRYPTION_KEYS_FILE to a file with a key a line. "
                "A key is 32 random bytes in URL-safe base64."
            )
        fernets: list[Fernet] = []
        for place, key in enumerate(keys, start=1):
            try:
                fernets.append(Fernet(key))
            except ValueError:
                raise VaultError(
                    f"Encryption key number {place} of {len(keys)} is no Fernet key (32 bytes in URL-safe base64)."
                ) from None
        self._fernet = MultiFernet(fernets)
        self._newest = fernets[0]

    def __repr__(self) -> str:
        return "Vault(…)"

    def encrypt(self, text: str) -> bytes:
        """A token for the database."""
        return self._fernet.encrypt(text.encode())

    def decrypt(self, token: bytes) -> str:
        """The text of a token. Raises VaultError when no key of the list made it, or when it was changed."""
        try:
            return self._fernet.decrypt(token).decode()
        except InvalidToken:
            raise VaultError(
                "A stored secret cannot be decrypted with any of the vault's keys: bring back the key it was made "
                "with, or store the secret anew."
            ) from None

    def rotate(self, token: bytes) -> bytes:
        """The same secret under the newest key; the token itself when it is so already: rotating twice is once."""
        try:
            self._newest.decrypt(token)
        except InvalidToken:
            pass
        else:
            return token
        return self.encrypt(self.decrypt(token))


def new_key() -> str:
    """A fresh key."""
    return Fernet.generate_key().decode()


def make_key_file(path: Path) -> None:
    """A file with a new key at `path`, mode 0600, unless there is one: for a service on one machine.

    Raises VaultError when it cannot be made.
    """
    fresh = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        if not path.exists():
            # Linked when it is whole: another process, or a crash, must never meet half a key.
            fresh.touch(0o600)
            fresh.write_text(new_key() + "\n")
            with contextlib.suppress(FileExistsError):
                os.link(fresh, path)
    except OSError as error:
        raise VaultError(f"The key file {path} cannot be made: {error.strerror}.") from None
    finally:
        fresh.unlink(missing_ok=True)


def keys_of(text: str) -> list[str]:
    """Keys out of a file or variable; empty lines and `#` comments are passed over."""
    lines = (line.partition("#")[0] for line in text.splitlines())
    return [key for line in lines for key in line.replace(",", " ").split()]
