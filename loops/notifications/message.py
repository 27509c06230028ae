"""What a hook is sent for a session's state, and when it is sent again. Pure."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime

from standardwebhooks import Webhook

from loops.notifications.hooks import Hook
from loops.operations import Brief
from loops.store.states import SessionStatus

HOUR = 3600.0
PAUSES = (5.0, 300.0, 1800.0, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR)
"""Seconds between tries, as Standard Webhooks advises (its "Deliverability and reliability"); then we give up."""
LONGEST_PAUSE = 24 * HOUR
LINE = 200
"""Characters of a title or a reason in a chat."""


@dataclass(frozen=True)
class News:
    """A session came to a state. `id` is the same each time that it is told: by it, receivers know it again."""

    id: str
    status: SessionStatus
    at: float
    session: Brief
    page: str


@dataclass(frozen=True)
class Message:
    """A POST."""

    headers: Mapping[str, str]
    body: bytes


def message(hook: Hook, news: News, now: float) -> Message:
    """What `hook` is sent; `now` in UNIX seconds is when."""
    common = {"content-type": "application/json", "user-agent": "greenloop"}
    if hook.format == "slack":
        return Message(common, json.dumps({"text": _line(news)}, ensure_ascii=False).encode())
    told = {
        "type": f"session.{news.status}",
        "timestamp": datetime.fromtimestamp(news.at, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "data": {**asdict(news.session), "status": news.status, "url": news.page},
    }
    body = json.dumps(told, ensure_ascii=False, separators=(",", ":"))
    stamp = datetime.fromtimestamp(int(now), UTC)
    proofs = (Webhook(secret.get_secret_value()).sign(news.id, stamp, body) for secret in hook.secrets)
    own = {"webhook-id": news.id, "webhook-timestamp": str(int(now)), "webhook-signature": " ".join(proofs)}
    return Message({**common, **own}, body.encode())


def pause(tries: int, retry_after: str | None = None) -> float | None:
    """Seconds until the next try after `tries` that failed; None: no more. A receiver's own `Retry-After` wins where it
    is longer."""
    if tries > len(PAUSES):
        return None
    asked = float(retry_after) if retry_after is not None and retry_after.strip().isdecimal() else 0.0
    return min(LONGEST_PAUSE, max(PAUSES[tries - 1], asked))


def _line(news: News) -> str:
    session = news.session
    where = session.repository + (f"#{session.pull_request}" if session.pull_request else "")
    reason = session.explanation.title if session.explanation else session.outcome or ""
    why = f": {_plain(reason)}" if reason and news.status == session.status else ""
    return f"<{news.page}|{_plain(session.title) or session.session}> in {_plain(where)} is {news.status}{why}"


def _plain(text: str) -> str:
    """Text in which a chat reads no mark-up, mention or link (Slack: "Formatting text", escaping)."""
    flat = " ".join(text.split())[:LINE]
    return flat.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("|", "¦")
