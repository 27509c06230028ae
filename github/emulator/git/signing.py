"""Signatures of commits that the web side makes.

GitHub signs with a PGP key of its own; this one signs in git's SSH format (`gpg.format=ssh`), which `git
verify-commit` can check against the public key. Format: OpenSSH's PROTOCOL.sshsig.
"""

import base64
import hashlib
import textwrap

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


def _string(data: bytes) -> bytes:
    return len(data).to_bytes(4, "big") + data


class Signer:
    """A key made anew for each local GitHub."""

    def __init__(self) -> None:
        self._key = Ed25519PrivateKey.generate()
        raw = self._key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
        self._public = _string(b"ssh-ed25519") + _string(raw)

    @property
    def public_key(self) -> str:
        """One line, as in an `allowed_signers` file."""
        return f"ssh-ed25519 {base64.b64encode(self._public).decode()}"

    def sign(self, payload: bytes) -> str:
        """The armour over `payload`."""
        digest = _string(hashlib.sha512(payload).digest())
        common = _string(b"git") + _string(b"") + _string(b"sha512")
        signature = _string(b"ssh-ed25519") + _string(self._key.sign(b"SSHSIG" + common + digest))
        blob = b"SSHSIG" + (1).to_bytes(4, "big") + _string(self._public) + common + _string(signature)
        body = "\n".join(textwrap.wrap(base64.b64encode(blob).decode(), 70))
        return f"-----BEGIN SSH SIGNATURE-----\n{body}\n-----END SSH SIGNATURE-----\n"
