"""Secrets at rest: encrypted with the first key of a list, readable with any of them."""

import contextlib
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Self

from cryptography.fernet import Fernet, InvalidToken, MultiFernet

VARIABLE = "GREENLOOP_VAULT_KEYS"
"""Keys in the environment, newest first, separated by commas or white space."""
FILE_VARIABLE = "GREENLOOP_VAULT_KEYS_FILE"
"""Or the path of a file that holds them, one a line."""


class VaultError(Exception):
    """A key or a secret that cannot be used. Never quotes either."""


class Vault:
    """Encrypts and decrypts text with Fernet (AES-128-CBC with HMAC-SHA256). `keys` are newest first."""

    def __init__(self, keys: Sequence[str]) -> None:
        if not keys:
            raise VaultError(
                f"No vault key: set {VARIABLE} or {FILE_VARIABLE}. A new key is 32 random bytes in URL-safe base64."
            )
        fernets: list[Fernet] = []
        for place, key in enumerate(keys, start=1):
            try:
                fernets.append(Fernet(key))
            except ValueError:
                raise VaultError(
                    f"Vault key number {place} of {len(keys)} is no Fernet key (32 bytes in URL-safe base64)."
                ) from None
        self._fernet = MultiFernet(fernets)
        self._newest = fernets[0]

    def __repr__(self) -> str:
        return "Vault(…)"

    @classmethod
    def load(cls, environment: "os._Environ[str] | dict[str, str] | None" = None) -> Self:
        """From the environment or the file it names; the file wins, as Kubernetes mounts secrets as files."""
        names = os.environ if environment is None else environment
        path = names.get(FILE_VARIABLE)
        if not path:
            return cls(keys_of(names.get(VARIABLE, "")))
        try:
            return cls(keys_of(Path(path).read_text()))
        except OSError as error:
            raise VaultError(f"The vault's key file {path} cannot be read: {error.strerror}.") from None

    @classmethod
    def at(cls, path: Path) -> Self:
        """From the file at `path`; without one it is made, mode 0600, with a new key: for a service on one machine."""
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        try:
            if not path.exists():
                # Linked when it is whole: another process, or a crash, must never meet half a key.
                fresh.touch(0o600)
                fresh.write_text(new_key() + "\n")
                with contextlib.suppress(FileExistsError):
                    os.link(fresh, path)
        except OSError as error:
            raise VaultError(f"The vault's key file {path} cannot be made: {error.strerror}.") from None
        finally:
            fresh.unlink(missing_ok=True)
        return cls.load({FILE_VARIABLE: str(path)})

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


def keys_of(text: str) -> list[str]:
    """Keys out of a file or variable; empty lines and `#` comments are passed over."""
    lines = (line.partition("#")[0] for line in text.splitlines())
    return [key for line in lines for key in line.replace(",", " ").split()]
