"""Files that hold credentials, by their name or by what is in them. Pure."""

import json
import re

from loops.guards.globs import folded
from loops.guards.model import Finding, shown
from loops.runtimes import registry

_SAMPLES = frozenset(
    ("example", "examples", "sample", "samples", "template", "templates", "tmpl", "tpl", "dist", "default", "defaults")
)
_ENV = re.compile(r"\.env(?:[._-].+)?|.+\.env(?:\.local)?")

_NAMES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("an SSH private key", re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519)(?:_sk)?")),
    ("a store of private keys", re.compile(r".*\.(?:p12|pfx|jks|keystore|ppk|kdbx)")),
    ("a file of passwords", re.compile(r"[._]netrc|\.pgpass|\.git-credentials|\.htpasswd|\.vault-token|\.my\.cnf")),
)
_PLACES: tuple[tuple[str, re.Pattern[str]], ...] = (
    ("AWS credentials", re.compile(r"(?:.*/)?\.aws/credentials")),
    ("Google Cloud credentials", re.compile(r"(?:.*/)?application_default_credentials\.json")),
    ("an agent's login", re.compile(rf"(?:.*/)?(?:{'|'.join(map(re.escape, registry.key_files()))})")),
)
# The name says nothing by itself: these are looked into.
_TEXTS: tuple[tuple[str, re.Pattern[str], re.Pattern[str]], ...] = (
    (
        "a registry token",
        re.compile(r"\.npmrc|\.yarnrc(?:\.yml)?|\.pnpmrc"),
        re.compile(r"(?:_authToken|_auth|_password|npmAuthToken)\s*[=:]\s*[\"']?(?![\"'\s]|\$|<|x{4})\S{8,}"),
    ),
    (
        "a registry password",
        re.compile(r"\.pypirc|pip\.conf|\.gem/credentials|nuget\.config"),
        re.compile(
            r"(?im)^[^\S\n]*(?:password|:rubygems_api_key)\s*[=:]\s*(?!\$|<|x{4})\S{6,}|cleartextpassword\"\s+value=\"[^%$\"]{6,}"
        ),
    ),
    (
        "a registry login",
        re.compile(r"\.dockercfg|config\.json|\.dockerconfigjson"),
        re.compile(r"\"(?:auth|identitytoken)\"\s*:\s*\"[A-Za-z0-9+/=_.-]{12,}\""),
    ),
    (
        "a cluster's credentials",
        re.compile(r"(?:.*kubeconfig.*|config|.*\.kubeconfig)"),
        re.compile(r"(?m)^[^\S\n]*(?:client-key-data|token)\s*:\s*[\"']?[A-Za-z0-9+/=_.-]{24,}"),
    ),
)
# JSON: OAuth clients and refreshable logins, by the fields that only they have, and the one that must hold a value.
_JSON_MARKS = ("private_key", "refresh_token", "refreshToken", "client_secret", "OPENAI_API_KEY", "access_token")
_JSON_NAME = re.compile(r"(?:.*credentials?.*|client_?secrets?.*|.*service[_-]?account.*|auth|token|.*oauth.*)\.json")
_PLACEHOLDER = re.compile(r"(?i)^$|[<{$*]|your|example|change.?me|placeholder|redacted|dummy|fake|x{4}|\.\.\.|test")

LOOKED_INTO = 262_144
"""Files over this many bytes are no credential files."""


def env_like(path: str) -> bool:
    """Whether the name is one of env files with values: `.env`, `.env.local`, `prod.env`, but not `.env.example`."""
    name = folded(path).rsplit("/", 1)[-1]
    return bool(_ENV.fullmatch(name)) and not _SAMPLES & set(re.split(r"[._-]", name))


def by_name(path: str, env_files: frozenset[str]) -> Finding | None:
    """What the path alone says."""
    name = folded(path)
    if name in {folded(each) for each in env_files}:
        text = (
            f"{shown(path)} is where the secrets for this repository's tests are written, so it is never published. If "
            "the repository keeps a file of its own there, move that, or take the names out of `env_secrets`."
        )
        return Finding("env_file", path, text)
    if env_like(path):
        text = (
            f"{shown(path)} looks like a file of settings with secrets, which are never published. Put names without "
            "values into `.env.example`, and the file itself into `.gitignore`."
        )
        return Finding("env_file", path, text)
    last = name.rsplit("/", 1)[-1]
    for what, pattern in _NAMES:
        if pattern.fullmatch(last):
            return _credential(path, what)
    for what, pattern in _PLACES:
        if pattern.fullmatch(name):
            return _credential(path, what)
    return None


def by_content(path: str, content: bytes) -> Finding | None:
    """What is in a file whose name leaves both open."""
    if len(content) > LOOKED_INTO:
        return None
    name = folded(path)
    last = name.rsplit("/", 1)[-1]
    text = content.decode("utf-8", "replace")
    for what, names, inside in _TEXTS:
        if (names.fullmatch(last) or names.fullmatch(name)) and inside.search(text):
            return _credential(path, what)
    if last.endswith(".key") and content[:2] == b"\x30\x82":
        return _credential(path, "a private key")
    if last.endswith(".json") and (_JSON_NAME.fullmatch(last) or '"service_account"' in text):
        return _credential(path, "the login of an account") if _holds_login(text) else None
    return None


def _holds_login(text: str) -> bool:
    if not any(mark in text for mark in _JSON_MARKS):
        return False
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return False
    pending = [document]
    while pending:
        value = pending.pop()
        if isinstance(value, list):
            pending += value
        elif isinstance(value, dict):
            for key, item in value.items():
                if key in _JSON_MARKS and isinstance(item, str) and len(item) >= 16 and not _PLACEHOLDER.search(item):
                    return True
                pending.append(item)
    return False


def _credential(path: str, what: str) -> Finding:
    text = (
        f"{shown(path)} looks like {what}, which is never published. Take the file out of the change; tests can make "
        "such a file when they run."
    )
    return Finding("credential_file", path, text)
