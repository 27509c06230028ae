"""Values that are stored as secrets, or beside them, and are none: they stand in ordinary text all the time."""

import re

from loops.secrets.randomness import mixed

_FIELDS = """
type project_id quota_project_id client_email client_id auth_uri token_uri auth_provider_x509_cert_url
client_x509_cert_url universe_domain redirect_uris javascript_origins token_url audience subject_token_type
service_account_impersonation_url account_id accountId email scope scopes expires expiry expires_at expiresAt
expires_in last_refresh plan subscriptionType rateLimitTier auth_mode token_type name kind apiVersion server
host hostname port user username cluster namespace current-context issued_at created_at updated_at region
"""
PUBLIC_FIELDS = frozenset(_FIELDS.split())
"""Fields of credential documents that anybody may know."""

_COMMON = """
localhost postgres postgresql mysql mariadb mongodb sqlite sqlite3 redis rabbitmq memcached elasticsearch
minio admin administrator root ubuntu debian user username password passwd passw0rd secret changeme test
testing tests tester development develop staging production prod local default example sample demo guest
public private enabled disabled enable disable required require prefer verify-full verify-ca none null true
false undefined memory console stdout stderr debug info warning error critical github gitlab google amazonaws
greenloop docker django rails laravel spring utf-8 utf8mb4 en_us.utf-8 c.utf-8
"""
_WORDS = frozenset(_COMMON.split())
_NUMBER = re.compile(r"[0-9][0-9.,:/TZ +_-]*\Z")
_ADDRESS = re.compile(r"[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63}){1,6}\Z")
_HOST = re.compile(
    r"(?:[a-z0-9-]{1,63}\.){1,8}(?:localhost|local|internal|test|example|invalid|svc|com|net|org|io|dev|cloud|app|eu|de|uk)"
    r"(?::[0-9]{1,5})?\Z"
)
_REGION = re.compile(r"[a-z]{2}(?:-gov)?-[a-z]{4,10}-?[0-9][a-z]?\Z")
_URL = re.compile(
    r"[A-Za-z][A-Za-z0-9+.-]{1,20}://(?:[A-Za-z0-9_-]{0,40}@)?[A-Za-z0-9._-]{0,200}(?::[0-9]{1,5})?(/[^\s?#]*)?\Z"
)
_PATH = re.compile(r"(?:~|\.{1,2})?/[A-Za-z0-9._/-]*\Z")
_PEM = re.compile(r"-{4,5} ?(?:BEGIN|END) [A-Za-z0-9 ]{1,60}-{4,5}\Z")
_RUN = re.compile(r"[A-Za-z0-9]{12,}")


def is_ordinary(value: str) -> bool:
    """Whether `value` is a word, a number, a name of a host or a plain address, which cannot be kept secret."""
    text = value.strip()
    if text.casefold() in _WORDS or _PEM.match(text):
        return True
    if _NUMBER.match(text):
        return len(text) < 12 or not text.isdigit()
    if not (_ADDRESS.match(text) or _HOST.match(text) or _REGION.match(text) or _URL.match(text) or _PATH.match(text)):
        return False
    # an address may hold a token all the same (a webhook's)
    return not any(mixed(run) for run in _RUN.findall(text))
