"""Accounts and Apps come into being."""

import secrets

from cryptography.hazmat.primitives import serialization
from cryptography.hazmat.primitives.asymmetric import rsa

from github.emulator.forge import Forge
from github.emulator.store.apps import App, HookConfig
from github.emulator.store.users import User
from github.emulator.tokens import personal_token


def user_added(
    forge: Forge, login: str, kind: str = "User", name: str | None = None, email: str | None = None, admin: bool = False
) -> User:
    """A new account, or the one of that login. People get a classic token."""
    known = forge.store.user(login)
    if known is not None:
        return known
    token = personal_token() if kind == "User" else ""
    return forge.store.users.add(
        User(forge.store.users.new_id(), login, kind, forge.now(), name or login, email, admin, token)
    )


def app_added(
    forge: Forge,
    slug: str,
    owner: User,
    permissions: dict[str, str],
    events: list[str],
    hook_url: str = "",
    webhook_secret: str | None = None,
    name: str | None = None,
) -> App:
    """A new App with a fresh RSA key, and its bot `slug[bot]`."""
    now = forge.now()
    key = rsa.generate_private_key(public_exponent=65537, key_size=2048)
    private = key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.TraditionalOpenSSL,
        serialization.NoEncryption(),
    )
    public = key.public_key().public_bytes(serialization.Encoding.PEM, serialization.PublicFormat.SubjectPublicKeyInfo)
    secret = secrets.token_hex(20) if webhook_secret is None else webhook_secret
    return forge.store.apps.add(
        App(
            id=forge.store.apps.new_id(),
            slug=slug,
            name=name or slug,
            client_id="Iv23li" + secrets.token_hex(7),
            client_secret=secrets.token_hex(20),
            owner=owner,
            bot=user_added(forge, f"{slug}[bot]", "Bot"),
            permissions={"metadata": "read"} | permissions,
            events=list(events),
            private_key=private.decode(),
            public_key=public.decode(),
            hook=HookConfig(forge.store.hooks.new_id(), hook_url, secret),
            created_at=now,
            updated_at=now,
        )
    )
