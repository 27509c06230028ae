"""What others wrote about a failure, read in processes of their own: a log that fails them twice is put aside."""

import zlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from github.checks.artifacts import ReportFile
from github.client.repository import RepositoryHandle
from loops.checks.spool import chunks
from loops.context import Clock, Loop
from loops.evidence.distill import distill
from loops.evidence.model import Annotation, Distilled, Report
from loops.evidence.passing.since import Since
from loops.evidence.passing.twin import Twin, learn
from loops.evidence.reading.reports import read
from loops.offload import Offload, Withheld
from loops.store.database import Database
from loops.store.quarantine import put_aside, reason_of

STORED_LOG = 64 * 1024 * 1024  # bytes of one log that a box can fetch; beyond, its middle says least
SECONDS = 60.0  # for one log; the longest that GitHub keeps takes some ten


@dataclass(frozen=True)
class AboutLog:
    """What is known of a log beside its lines; see `loops.evidence.distill.distill`."""

    budget: int
    redact: Callable[[str], str]
    failed_steps: Sequence[str] = ()
    annotations: Sequence[Annotation] = ()
    changed_files: Sequence[str] = ()
    twin: Twin | None = None
    since: Since | None = None
    reports: Sequence[Report] = ()


@dataclass(frozen=True)
class DistilledLog:
    """`packed` is the log without secrets, compressed with zlib; `size` its bytes before that."""

    distilled: Distilled
    packed: bytes
    size: int


@dataclass(frozen=True)
class Distiller:
    """Reads for one installation: its logs wait for each other, not those of others for them."""

    offload: Offload
    database: Database
    clock: Clock
    installation_id: int
    seconds: float = field(default=SECONDS)

    async def log(self, check_id: int, path: Path, about: AboutLog) -> DistilledLog:
        """The log in the file `path`, of the check `check_id`. Raises Withheld, with the reason, for one put aside."""
        key = str(check_id)
        async with self.database.read() as tx:
            known = await reason_of(tx, "log", key)
        if known is not None:
            raise Withheld(known)
        try:
            return await self._log(path, about)
        except Withheld:
            # once more: the process may have ended for another reason
            try:
                return await self._log(path, about)
            except Withheld as error:
                await put_aside(self.database, "log", key, str(error), now=self.clock())
                raise

    async def _log(self, path: Path, about: AboutLog) -> DistilledLog:
        return await self.offload.run(self.installation_id, distilled, path, about, seconds=self.seconds)

    async def learned(self, path: Path) -> Twin:
        """What a passing job's log is compared by. Raises Withheld."""
        return await self.offload.run(self.installation_id, learned, path, seconds=self.seconds)

    async def reports(self, files: Sequence[ReportFile]) -> Sequence[Report]:
        """What the reports of a run say; nothing where they cannot be read through."""
        if not files:
            return ()
        try:
            return await self.offload.run(self.installation_id, reports_in, files, seconds=self.seconds)
        except Withheld:
            return ()


def distiller(loop: Loop, repo: RepositoryHandle) -> Distiller:
    """The distiller for the logs of `repo`."""
    return Distiller(loop.offload, loop.database, loop.clock, repo.installation_id)


def distilled(path: Path, about: AboutLog) -> DistilledLog:
    """In the other process: the excerpt of a log, and the log as it is kept."""
    with path.open("rb") as file:
        excerpt = distill(
            chunks(file),
            budget=about.budget,
            failed_steps=about.failed_steps,
            annotations=about.annotations,
            changed_files=about.changed_files,
            redact=about.redact,
            twin=about.twin,
            since=about.since,
            reports=about.reports,
        )
        return DistilledLog(excerpt, *_packed(file, about.redact))


def learned(path: Path) -> Twin:
    """In the other process: the templates of a passing log."""
    with path.open("rb") as file:
        return learn(chunks(file))


def reports_in(files: Sequence[ReportFile]) -> list[Report]:
    """In the other process: what reports say."""
    return [read(each.path, each.content) for each in files]


def _packed(file: IO[bytes], redact: Callable[[str], str]) -> tuple[bytes, int]:
    """The log compressed, line by line without secrets, and how long it is like that; of a huge one the beginning and
    the end."""
    packer = zlib.compressobj(6)
    size = file.seek(0, 2)
    file.seek(0)
    parts = []
    kept = length = 0
    for line in file:
        if size > STORED_LOG and STORED_LOG // 2 < kept < size - STORED_LOG // 2:
            kept += len(line)
            continue
        kept += len(line)
        clean = redact(line.decode("utf-8", "replace")).encode()
        length += len(clean)
        parts.append(packer.compress(clean))
    return b"".join((*parts, packer.flush())), length
