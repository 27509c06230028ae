"""What the service stands on: its database, Redis, git and disk."""

import asyncio
import shutil
import subprocess
import tempfile
from pathlib import Path

from app.commands.doctor.finding import Finding
from app.settings import Settings

FREE_BYTES = 2 * 1024**3
QUARANTINE_SHOWN = 5
OLDEST_GIT = (2, 30)


async def check_database(settings: Settings) -> list[Finding]:
    from loops.store.database import Database
    from loops.store.schema import look

    database = Database(settings.database)
    shown = "SQLite" if database.sqlite else "PostgreSQL"
    try:
        found = await look(database)
    finally:
        await database.close()
    if not found.usable and "does not answer" in found.says:
        mend = "Check GREENLOOP_DATABASE_URL, and that the server runs and lets this machine in."
        return [Finding("database", "fail", f"{shown}: {found.says}", mend)]
    if not found.usable:
        return [Finding("database", "fail", f"{shown}: {found.says}", "Run `greenloop migrate`.")]
    if found.says != "ok":
        mend = "Run the version that made it, or a newer one, unless an upgrade is under way."
        return [Finding("database", "warn", f"{shown}: {found.says}", mend)]
    return [Finding("database", "ok", f"{shown}, at the current schema")]


async def check_quarantine(settings: Settings) -> list[Finding]:
    """What processes failed over lately; nothing where the database has no such table yet, which is told elsewhere."""
    from loops.store.database import Database
    from loops.store.quarantine import newest
    from loops.store.schema import look

    database = Database(settings.database)
    try:
        if not (await look(database)).usable:
            return []
        async with database.read() as tx:
            found = await newest(tx, QUARANTINE_SHOWN)
    finally:
        await database.close()
    if not found:
        return [Finding("quarantine", "ok", "nothing was put aside")]
    told = "; ".join(f"{each.kind} {each.key} ({each.reason})" for each in found)
    mend = "It is not tried again by itself. Report it to Greenloop; GitHub's redelivery page sends a delivery anew."
    return [Finding("quarantine", "warn", f"put aside, since processes fail over it: {told}", mend)]


async def check_hooks(settings: Settings) -> list[Finding]:
    """Whom to tell of sessions, and what nobody took; nothing where nobody is to be told."""
    from loops.notifications.hooks import BadHooks, read_hooks
    from loops.notifications.send import given_up
    from loops.store.database import Database
    from loops.store.schema import look

    if settings.hooks_file is None:
        return []
    try:
        hooks = read_hooks(settings.hooks_file)
    except BadHooks as error:
        return [Finding("hooks", "fail", str(error), "Mend the file; docs/notifications.md says what it holds.")]
    told = ", ".join(f"{hook.name} ({hook.host})" for hook in hooks) or "nobody"
    database = Database(settings.database)
    try:
        if not (await look(database)).usable:
            return [Finding("hooks", "ok", f"told of sessions: {told}")]
        lost = await given_up(database)
    finally:
        await database.close()
    if not lost:
        return [Finding("hooks", "ok", f"told of sessions: {told}")]
    mend = "Mend the receiver. What was given up is not sent again; the API has the sessions as they are."
    return [Finding("hooks", "warn", f"told of sessions: {told}; {lost.count} given up, last: {lost.error}", mend)]


async def check_redis(settings: Settings) -> list[Finding]:
    from app.process.valkey import RedisUnavailable, binary
    from loops.store.bus import Bus

    if not settings.redis_url:
        try:
            binary()
        except RedisUnavailable as error:
            return [Finding("Redis", "fail", str(error), "Set GREENLOOP_REDIS_URL to a Redis or Valkey server.")]
        return [Finding("Redis", "ok", "our own, started by `greenloop up`")]
    bus = Bus(settings.redis_url)
    try:
        if await bus.ping():
            return [Finding("Redis", "ok", "answers")]
    finally:
        await bus.close()
    mend = "Check GREENLOOP_REDIS_URL; until then workers find what is due by themselves, half a second later."
    return [Finding("Redis", "fail", "does not answer", mend)]


async def check_machine(settings: Settings) -> list[Finding]:
    """git only where boxes are local processes: the boxes of a cluster bring their own."""
    git = [await asyncio.to_thread(_git)] if settings.boxes == "local" else []
    return [*git, await asyncio.to_thread(_disk, settings.folder)]


def _git() -> Finding:
    try:
        said = subprocess.run(
            ["git", "--version"], capture_output=True, text=True, timeout=10, check=True
        ).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return Finding("git", "fail", f"git does not run: {type(error).__name__}", "Install git.")
    numbers = [int(part) for part in said.split()[2].split(".")[:2] if part.isdigit()]
    if tuple(numbers) < OLDEST_GIT:
        return Finding("git", "warn", said, "Local boxes need git 2.30 or newer.")
    return Finding("git", "ok", said)


def _disk(folder: Path) -> Finding:
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(b"x")
        free = shutil.disk_usage(folder).free
    except OSError as error:
        return Finding("disk", "fail", f"{folder}: {error.strerror}", "Set GREENLOOP_DATA to a folder of this user's.")
    says = f"{folder} has {free / 1024**3:.1f} GiB free"
    if free < FREE_BYTES:
        return Finding("disk", "warn", says, "Make room: checkouts and the database grow.")
    return Finding("disk", "ok", says)
