"""The settings: those that nobody knows, the secrets, the address, who may see the pages, the keys."""

import os
from urllib.parse import urlsplit

from app.commands.doctor.finding import Finding
from app.settings import Settings, unknown_variables


async def check_settings(settings: Settings) -> list[Finding]:
    found = []
    for name, nearest in unknown_variables(os.environ).items():
        mend = f"Did you mean {nearest}?" if nearest else "Remove it; app/settings.py has the names."
        found.append(Finding("settings", "warn", f"{name} is no setting", mend))
    secrets = settings.webhook_secret_list()
    if not secrets:
        mend = "Set GREENLOOP_WEBHOOK_SECRETS_FILE to a file with the App's webhook secret."
        found.append(Finding("webhook secret", "fail", "there is none, so no delivery can be trusted", mend))
    elif min(map(len, secrets)) < 16:
        found.append(Finding("webhook secret", "warn", "one is shorter than 16 bytes", "Make a longer, random one."))
    else:
        found.append(Finding("webhook secret", "ok", f"{len(secrets)} accepted"))
    local = any(host in settings.public_url for host in ("127.0.0.1", "localhost"))
    if local and settings.github_api_url == "https://api.github.com":
        mend = "Set GREENLOOP_PUBLIC_URL to the address under which GitHub and people reach the service."
        found.append(Finding("public URL", "warn", f"{settings.public_url} is this machine only", mend))
    else:
        found.append(Finding("public URL", "ok", settings.public_url))
    return [*found, _pages(settings)]


def _pages(settings: Settings) -> Finding:
    """Who may see the pages."""
    from app.web.signin.gate import Gate
    from app.web.signin.local import loopback

    mend = (
        "Set GREENLOOP_CLIENT_ID and GREENLOOP_SIGN_IN_SECRET_FILE, both from the App's page, so that people sign in."
    )
    try:
        gate = Gate(settings)
    except ValueError as error:
        return Finding("pages", "fail", str(error), mend)
    if gate.signin is not None:
        return Finding(
            "pages", "ok", f"people sign in with GitHub; the App's callback URL has to be {gate.redirect_uri}"
        )
    if settings.pages == "open":
        return Finding("pages", "warn", "everybody who reaches the service sees every session", mend)
    if not loopback(urlsplit(settings.public_url).hostname):
        return Finding("pages", "warn", "closed, since nobody can sign in", mend)
    return Finding("pages", "ok", "for this machine only")


async def check_keys(settings: Settings) -> list[Finding]:
    from loops.secrets.vault import Vault, VaultError

    keys = settings.encryption_key_list()
    mend = "Set GREENLOOP_ENCRYPTION_KEYS_FILE to a file with a Fernet key a line, the newest first."
    if not keys:
        return [Finding("encryption keys", "fail", "there is none", mend)]
    try:
        Vault(keys)
    except VaultError as error:
        return [Finding("encryption keys", "fail", str(error), mend)]
    return [Finding("encryption keys", "ok", f"{len(keys)}, the first encrypts")]
