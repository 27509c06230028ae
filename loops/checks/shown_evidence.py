"""Evidence as people are shown it: kept once for each head, in the journal, and read back for what they see."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.checks.collect import Failure, fingerprint
from loops.context import Clock
from loops.evidence.telling.brief import brief
from loops.evidence.text.normal import in_checkout
from loops.store import journal
from loops.store.database import Database
from loops.store.tables import Event, Session

KIND = "evidence"
PLACES = 20
MESSAGE = 500


@dataclass(frozen=True)
class Place:
    """One line of a file of the repository, and what was said of it."""

    path: str
    line: int
    message: str


@dataclass(frozen=True)
class RedCheck:
    """Why a check, or several that failed alike, are red. `url` leads to the full log."""

    name: str
    conclusion: str
    url: str
    brief: str
    excerpt: str = ""
    places: tuple[Place, ...] = field(default_factory=tuple)


async def keep_evidence(clock: Clock, database: Database, session: Session, sha: str, found: Sequence[Failure]) -> None:
    """Write down what `found` says of the head `sha`; nothing when that stands there already."""
    name = fingerprint(found)
    async with database.write() as tx:
        last = await _last(tx, session.id)
        if last is not None and (last.get("sha"), last.get("fingerprint")) == (sha, name):
            return
        checks = [_stored(each) for each in found]
        text = f"why {', '.join(check['name'] for check in checks)} failed on {sha[:12]}"
        payload = {"sha": sha, "fingerprint": name, "text": text, "checks": checks}
        await journal.append(tx, session.id, [(KIND, payload)], at=clock())


async def evidence_of(tx: AsyncSession, session_id: int, sha: str | None) -> tuple[RedCheck, ...]:
    """Why the checks of the head `sha` are red, as it was last written down; () where nothing was."""
    last = await _last(tx, session_id) if sha is not None else None
    return red_checks(last) if last is not None and last.get("sha") == sha else ()


def red_checks(payload: dict[str, Any]) -> tuple[RedCheck, ...]:
    """The checks in an event of kind KIND."""
    return tuple(
        RedCheck(
            name=str(each["name"]),
            conclusion=str(each["conclusion"]),
            url=str(each["url"]),
            brief=str(each["brief"]),
            excerpt=str(each["excerpt"]),
            places=tuple(Place(str(place[0]), int(place[1]), str(place[2])) for place in each["places"]),
        )
        for each in payload["checks"]
    )


async def _last(tx: AsyncSession, session_id: int) -> dict[str, Any] | None:
    found = await tx.execute(
        select(Event.payload)
        .where(Event.session_id == session_id, Event.kind == KIND)
        .order_by(Event.seq.desc())
        .limit(1)
    )
    return found.scalar_one_or_none()


def _stored(failure: Failure) -> dict[str, Any]:
    distilled = failure.distilled
    places = [
        [path, place.line, place.message[:MESSAGE]]
        for place in distilled.diagnostics
        if place.line and place.message and _is_relative(path := in_checkout(place.file))
    ]
    return {
        "name": ", ".join(failure.names),
        "conclusion": failure.first.check.conclusion,
        "url": failure.first.check.url,
        "brief": brief(distilled),
        "excerpt": distilled.excerpt,
        "places": places[:PLACES],
    }


def _is_relative(path: str) -> bool:
    return bool(path) and not path.startswith(("/", "..", "\\")) and ":" not in path
