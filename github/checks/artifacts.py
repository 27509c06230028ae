"""The files of a workflow run's artifacts that look like reports of tests or of analysis, within limits."""

import io
import lzma
import zipfile
import zlib
from dataclasses import dataclass
from typing import Any

from github.checks.logs import open_download
from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle

LISTED = 100  # artifacts of a run are looked through
FETCHED = 4  # of them are fetched, those first whose names promise reports
PACKED = 8_000_000  # bytes of one artifact; a larger one is left alone
ENTRIES = 20_000  # of one artifact; an archive of more is left alone: to list them takes a kilobyte each
ENTRY = b"PK\x01\x02"  # what each begins with in the list at an archive's end
FILES = 200  # of one artifact are looked at
UNPACKED = 4_000_000  # bytes of one file
TOTAL = 16_000_000  # bytes of all files of one artifact
ENDINGS = (".xml", ".trx", ".sarif", ".sarif.json")
PROMISING = ("junit", "test", "report", "result", "trx", "sarif", "surefire", "lint", "scan")


@dataclass(frozen=True, slots=True)
class ReportFile:
    """A file inside an artifact: its path and its bytes."""

    path: str
    content: bytes


async def report_files(repository: RepositoryHandle, run_id: int) -> list[ReportFile]:
    """The reports among the artifacts of a run. What is too large, no zip or cannot be had is left out."""
    found: list[ReportFile] = []
    try:
        listed = [
            each
            async for each in repository.pages(f"actions/runs/{run_id}/artifacts", "artifacts", limit=LISTED)
            if not each.get("expired") and int(each.get("size_in_bytes") or 0) <= PACKED and _promises(each)
        ]
    except GitHubError:
        return found
    for each in listed[:FETCHED]:
        packed = bytearray()
        try:
            async with open_download(repository, f"actions/artifacts/{int(each['id'])}/zip") as pieces:
                async for piece in pieces:
                    packed += piece
                    if len(packed) > PACKED:
                        break
        except GitHubError:
            continue
        if len(packed) <= PACKED:
            found += unpacked(bytes(packed))
    return found


def unpacked(packed: bytes) -> list[ReportFile]:
    """The reports in a zip. Sizes are counted as they come out, not as the archive claims."""
    found: list[ReportFile] = []
    if packed.count(ENTRY) > ENTRIES:
        return found
    room = TOTAL
    try:
        with zipfile.ZipFile(io.BytesIO(packed)) as archive:
            for entry in archive.infolist()[:FILES]:
                if not entry.filename.lower().endswith(ENDINGS) or room <= 0:
                    continue
                limit = min(UNPACKED, room)
                with archive.open(entry) as file:
                    content = file.read(limit + 1)
                room -= len(content)
                if len(content) <= limit:
                    found.append(ReportFile(entry.filename, content))
    except (zipfile.BadZipFile, RuntimeError, OSError, EOFError, ValueError, zlib.error, lzma.LZMAError):
        return found  # broken, or encrypted: what came before it counts
    return found


def _promises(artifact: dict[str, Any]) -> bool:
    name = str(artifact.get("name") or "").lower()
    return any(word in name for word in PROMISING)
