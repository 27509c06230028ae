"""What secrets look like: the rules of detect-secrets that hold up on ordinary code, and the shapes the redactor knows.

Left out of detect-secrets, because they refuse ordinary changes: plain entropy (hashes, ids, test data), IP addresses,
Artifactory and Twilio (both match inside base64), and anything that asks the network whether a secret is alive.
"""

import math
import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from detect_secrets.plugins.aws import AWSKeyDetector
from detect_secrets.plugins.azure_storage_key import AzureStorageKeyDetector
from detect_secrets.plugins.base import RegexBasedDetector
from detect_secrets.plugins.discord import DiscordBotTokenDetector
from detect_secrets.plugins.github_token import GitHubTokenDetector
from detect_secrets.plugins.gitlab_token import GitLabTokenDetector
from detect_secrets.plugins.ibm_cos_hmac import IbmCosHmacDetector
from detect_secrets.plugins.jwt import JwtTokenDetector
from detect_secrets.plugins.keyword import KeywordDetector
from detect_secrets.plugins.mailchimp import MailchimpDetector
from detect_secrets.plugins.npm import NpmDetector
from detect_secrets.plugins.openai import OpenAIDetector
from detect_secrets.plugins.pypi_token import PypiTokenDetector
from detect_secrets.plugins.sendgrid import SendGridDetector
from detect_secrets.plugins.slack import SlackDetector
from detect_secrets.plugins.square_oauth import SquareOAuthDetector
from detect_secrets.plugins.stripe import StripeDetector
from detect_secrets.plugins.telegram_token import TelegramBotTokenDetector

from loops.secrets.redact import SHAPES


@dataclass(frozen=True, slots=True)
class Shape:
    """One kind of secret: `patterns` are tried where one of `anchors` (literal text) is. Not `sure`: tests and
    documents hold made-up ones all the time."""

    kind: str
    anchors: tuple[str, ...]
    patterns: tuple[re.Pattern[str], ...]
    sure: bool = True


@dataclass(frozen=True, slots=True)
class Match:
    """Where something like a secret stands in a text; `value` must never be shown."""

    kind: str
    start: int
    value: str
    sure: bool


def _of(kind: str, detector: type[RegexBasedDetector], *anchors: str, sure: bool = True) -> Shape:
    return Shape(kind, anchors, tuple(_patterns(detector)), sure)


def _patterns(detector: type[RegexBasedDetector]) -> Iterable[re.Pattern[str]]:
    # declared as a property, set as a plain value in each class
    patterns: Iterable[re.Pattern[str]] = vars(detector)["denylist"]
    return patterns


_JWT = "JSON Web Token"

SHAPES_OF_TOKENS: tuple[Shape, ...] = (
    _of("AWS access key", AWSKeyDetector, "A3T", "ABIA", "ACCA", "AKIA", "ASIA", "aws", "AWS", "Aws"),
    _of("Azure storage key", AzureStorageKeyDetector, "AccountKey="),
    _of("Discord bot token", DiscordBotTokenDetector, "M", "N", "O", sure=False),
    _of("GitHub token", GitHubTokenDetector, "ghp_", "gho_", "ghu_", "ghs_", "ghr_"),
    _of("GitLab token", GitLabTokenDetector, "gl", "GR1348941"),
    _of("IBM storage key", IbmCosHmacDetector, "secret", "SECRET", "Secret", sure=False),
    _of(_JWT, JwtTokenDetector, "eyJ", sure=False),
    _of("Mailchimp key", MailchimpDetector, "-us", sure=False),
    _of("npm token", NpmDetector, "_authToken"),
    _of("OpenAI key", OpenAIDetector, "T3BlbkFJ"),
    _of("PyPI token", PypiTokenDetector, "pypi-AgE"),
    _of("SendGrid key", SendGridDetector, "SG."),
    _of("Slack token", SlackDetector, "xox", "XOX", "hooks.slack.com"),
    _of("Square secret", SquareOAuthDetector, "sq0csp-"),
    _of("Stripe live key", StripeDetector, "k_live_"),
    _of("Telegram bot token", TelegramBotTokenDetector, ":", sure=False),
    *(
        Shape("access token", (anchor,), (pattern,))
        for anchor, pattern in SHAPES
        if not anchor.startswith(("-----", "eyJ", "xox", "AKIA", "ASIA", "npm_"))
    ),
)

PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z0-9]{1,12} ){0,3}PRIVATE KEY(?: BLOCK)?-----[\s\"'+,;\\nr>|`.)(-]{0,80}"
    r"(?:[A-Za-z0-9-]{1,30}: [^\n\\]{0,200}(?:\\r|\\n|[\s\"'+,]){1,80}){0,4}[A-Za-z0-9+/=]{16}"
    r"|PuTTY-User-Key-File-[23]: "
)
"""The head of a private key and the beginning of its body; code that only names the head is none."""

URL_PASSWORD = re.compile(
    r"[a-z][a-z0-9+.-]{1,20}://[^\s:/@{}<>$\"'`]{0,80}:([^\s:/@{}<>$\"'`]{6,120})@([A-Za-z0-9_.-]{1,200})"
)
_LOCAL = re.compile(
    r"(?i)localhost|127\.|0\.0\.0\.0|10\.|192\.168\.|[^.]+\Z|.*\.?example\.(?:com|org|net)\Z|.*\.(?:test|local|localhost|invalid|example|internal)\Z"
)

_WORDS = re.compile(r"(?i)key|pass|pwd|secret|contrase")
_KEYWORD = KeywordDetector()
_MADE_UP = re.compile(
    r"(?i)your|change.?me|placeholder|redacted|dummy|fake|sample|x{4}|\*{3}|\.{3}|insert|replace|not.?a.?|12345678(?:90)?\Z|^[<{$%]"
)
_RANDOM = re.compile(r"[A-Za-z0-9+/=_~.-]{16,200}\Z")
_RUN = re.compile(r"[A-Za-z0-9]{16,}")
_WORD = re.compile(r"[A-Za-z0-9_]")


def tokens(text: str) -> Iterator[Match]:
    """What has the shape of some provider's token in `text`, a line or a part of one."""
    for shape in SHAPES_OF_TOKENS:
        if not any(anchor in text for anchor in shape.anchors):
            continue
        for pattern in shape.patterns:
            for found in pattern.finditer(text):
                value = found.group()
                if _stands_alone(text, found) and not _made_up(shape.kind, value):
                    yield Match(shape.kind, found.start(), value, shape.sure)


def _stands_alone(text: str, found: re.Match[str]) -> bool:
    """Not a piece of something longer, such as base64 of a picture."""
    value = found.group()
    before = text[found.start() - 1 : found.start()] if found.start() else ""
    after = text[found.end() : found.end() + 1]
    if value[0].isalnum() and (before.isalnum() or (before in ("+", "/") and before)):
        # in `\ntoken`, written as an escape, the letter belongs to the escape
        return text[max(0, found.start() - 2) : found.start()] in ("\\n", "\\t", "\\r")
    return not (value[-1:].isalnum() and after.isalnum())


def _made_up(kind: str, value: str) -> bool:
    if kind == _JWT:
        return not JwtTokenDetector.is_formally_valid(value) or value.count(".") < 2
    body = value.split("_", 1)[-1] if "_" in value[:12] else value
    if _MADE_UP.search(value) or set(body.lower()) <= set("x0-_.*"):
        return True
    if kind == "access token":
        # an identifier such as `sk-loading-indicator` has no long run of letters and digits mixed
        return not any(_mixed(run) for run in _RUN.findall(value))
    if kind in ("Telegram bot token", "Discord bot token", "Mailchimp key"):
        return entropy(value) < 4
    return False


def _mixed(text: str) -> bool:
    return any(map(str.isdigit, text)) and any(map(str.isalpha, text))


def passwords(path: str, line: str) -> Iterator[Match]:
    """Values that the names beside them call secrets, and that look random; passwords in URLs of hosts elsewhere."""
    for found in URL_PASSWORD.finditer(line):
        password, host = found[1], found[2]
        if not _LOCAL.match(host) and not _MADE_UP.search(password) and password.lower() not in _COMMON:
            yield Match("password in a URL", found.start(1), password, False)
    if _WORDS.search(line):
        for secret in _KEYWORD.analyze_line(path, line):
            value = str(secret.secret_value).strip("\"'`, ;")
            if _looks_random(value):
                yield Match("password or key", max(line.find(value), 0), value, False)


_COMMON = frozenset(
    ("password", "passw0rd", "secret", "postgres", "username", "example", "changeit", "mysecret", "letmein", "rootpass")
)


def _looks_random(value: str) -> bool:
    if (
        not _RANDOM.match(value)
        or _MADE_UP.search(value)
        or re.search(r"(?i)example|test|secret|passw|token|/[a-z]+/", value)
    ):
        return False
    if re.fullmatch(r"[0-9a-fA-F]+", value):
        return len(value) >= 24 and entropy(value.lower()) >= 3
    # words joined by dots, dashes or underscores are names of things
    longest = max((len(run) for run in re.split(r"[._/-]", value)), default=0)
    return _mixed(value) and longest >= 12 and entropy(value) >= 3.7


def entropy(text: str) -> float:
    """Bits per character, after Shannon."""
    counts: Iterable[int] = Counter(text).values()
    return -sum(count / len(text) * math.log2(count / len(text)) for count in counts)
