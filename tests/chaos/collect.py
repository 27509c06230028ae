"""The facts that the invariants are about: from the database, the local GitHub, Redis and this machine."""

import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import redis.asyncio as redis
from sqlalchemy import func, or_, select

from app.demo.world import World
from github.publishing.commits import TRAILER
from github.threads.comments import marker
from k8s.runner.processes import process_tree
from k8s.runner.state import Home
from loops.comments.update_comment import status_key
from loops.store.database import Database
from loops.store.tables import Attempt, Blob, Delivery, Event, Log, Session, Turn
from tests.chaos.invariants import DeliveryFacts, Facts, SessionFacts, TurnFacts

LINE = re.compile(r"^chaos (\d+)$", re.M)
_TRAILER = re.compile(rf"^{TRAILER}: (\S+)$", re.M)


async def facts(
    world: World, database: Database, asked: Mapping[int, bool], printed: int, *, excused: Sequence[str]
) -> Facts:
    """All of them, but for what is left over."""
    pulls = {int(each["number"]): each for each in await _get(world, "pulls?state=all&per_page=100")}
    sessions = await _sessions(world, database, pulls)
    known = {str(pull["head"]["ref"]) for pull in pulls.values()} | {world.default_branch}
    branches = [str(each["name"]) for each in await _get(world, "branches?per_page=100")]
    return Facts(
        asked=asked,
        deliveries=await _deliveries(world, database),
        sessions=sessions,
        printed=printed,
        excused=excused,
        put_aside=await _put_aside(world, database),
        default_branch_moved=await world.default_branch_moved(),
        strangers=[name for name in branches if name not in known and not any(asked.values())],
    )


async def _get(world: World, path: str) -> Any:
    answer = await world.http.get(f"/repos/{world.repository}/{path}")
    answer.raise_for_status()
    return answer.json()


async def _deliveries(world: World, database: Database) -> list[DeliveryFacts]:
    log = world.local.call(lambda: [(each.guid, each.event, each.status_code) for each in world.local.store.deliveries])
    acknowledged = {guid: event for guid, event, status in log if status == 202}
    async with database.read() as tx:
        rows = {row.guid: row for row in (await tx.execute(select(Delivery))).scalars()}
    found = []
    for guid in sorted(acknowledged.keys() | rows.keys()):
        if row := rows.get(guid):
            decided = row.decision or "", row.reason or "", row.session_id is not None
            found.append(DeliveryFacts(guid, row.event, row.status, *decided))
        else:
            found.append(DeliveryFacts(guid, acknowledged[guid]))
    return found


async def _put_aside(world: World, database: Database) -> list[int]:
    """Issues of requests over which processes ended, if that was answered there."""
    async with database.read() as tx:
        bodies = (await tx.execute(select(Delivery.body).where(Delivery.decision == "quarantined"))).scalars().all()
    issues = {int(json.loads(body)["issue"]["number"]) for body in bodies if body and b'"issue"' in body}
    return [number for number in sorted(issues) if await world.our_comments(number, None)]


async def _sessions(world: World, database: Database, pulls: Mapping[int, Any]) -> list[SessionFacts]:
    async with database.read() as tx:
        sessions = list((await tx.execute(select(Session).order_by(Session.id))).scalars())
        turns = list((await tx.execute(select(Turn).order_by(Turn.id))).scalars())
        events = (await tx.execute(select(Event).order_by(Event.session_id, Event.seq))).scalars().all()
        counted = select(Attempt.session_id, func.count()).group_by(Attempt.session_id)
        attempts: dict[int, int] = {row[0]: row[1] for row in await tx.execute(counted)}
    found = []
    for session in sessions:
        ours = [number for number, pull in pulls.items() if pull["head"]["ref"] == session.branch]
        commits = [each for number in ours for each in await _get(world, f"pulls/{number}/commits?per_page=100")]
        messages = {str(each["sha"]): str(each["commit"]["message"]) for each in commits}
        of_session = [event for event in events if event.session_id == session.id]
        found.append(
            SessionFacts(
                id=session.public_id,
                issue=session.subject_number or 0,
                status=str(session.status),
                outcome=session.outcome or "",
                reason=session.reason or "",
                attempts=attempts.get(session.id, 0),
                cap=session.cap,
                seqs=[event.seq for event in of_session],
                last_seq=session.event_seq,
                turns=[_turn(turn, of_session) for turn in turns if turn.session_id == session.id],
                pulls=ours,
                trailers=[turn for message in messages.values() for turn in _TRAILER.findall(message)],
                comments=await _comments(world, session),
            )
        )
    return found


async def _comments(world: World, session: Session) -> int:
    """How many of our comments show the session's state."""
    ours = await world.our_comments(session.subject_number or 0, session.pull_number)
    return sum(str(each["body"]).startswith(marker(status_key(session.public_id))) for each in ours)


def _turn(turn: Turn, events: Sequence[Event]) -> TurnFacts:
    said = "".join(_text(event) for event in events if event.turn_id == turn.id)
    lines = [int(number) for number in LINE.findall(said)]
    return TurnFacts(turn.public_id, bool(turn.commit_sha), lines, 1 + turn.lost + turn.retries)


def _text(event: Event) -> str:
    """What the agent printed, as the journal has it."""
    return str(event.payload.get("text", "")) if event.kind.startswith(("assistant", "output")) else ""


async def rows_left_over(database: Database) -> list[str]:
    """Rows that are held or due though nothing is to be done any more, and what was to go with its turn."""
    async with database.read() as tx:
        found = []
        for table in (Session, Delivery):
            held = select(func.count()).select_from(table).where(or_(table.lease_until.is_not(None), table.due_at > 0))
            if count := (await tx.execute(held)).scalar_one():
                found.append(f"{count} rows of {table.__tablename__} under lease or due")
        for kept in (Blob, Log):
            if count := (await tx.execute(select(func.count()).select_from(kept))).scalar_one():
                found.append(f"{count} rows of {kept.__tablename__}")
    return found


async def keys_left_over(url: str) -> list[str]:
    """Keys in Redis that never expire."""
    client = redis.Redis.from_url(url)
    try:
        return [f"the key {key.decode()} in Redis" async for key in client.scan_iter() if await client.ttl(key) == -1]
    finally:
        await client.aclose()


def turns_left_over(boxes: Path) -> list[str]:
    """Turns, and checkouts of them, that boxes still have."""
    found = []
    for path in sorted(boxes.glob("*/home")):
        home = Home(path)
        found += [f"turn {state.id} in the box {path.parent.name}" for state in home.turn_states()]
    return found


def processes_left_over(folder: Path) -> list[str]:
    """Processes of ours that outlived everything: they name the folder, or work in it."""
    name = str(folder).encode()
    found = []
    for process in process_tree.table().values():
        if not process.dead and (_names(process.pid, name) or process_tree.works_in(process.pid, [folder])):
            found.append(f"process {process.pid}: {_command(process.pid)}")
    return found


def _names(pid: int, name: bytes) -> bool:
    try:
        about = Path(f"/proc/{pid}")
        return name in (about / "cmdline").read_bytes() or name in (about / "environ").read_bytes()
    except OSError:
        return False


def _command(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode("utf-8", "replace")[:200]
    except OSError:
        return "gone meanwhile"
