"""Reports among a run's artifacts, from a stand-in for the API and for the storage behind it."""

import io
import zipfile
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from github.checks.artifacts import ENTRIES, FETCHED, PACKED, TOTAL, UNPACKED, ReportFile, report_files, unpacked
from github.client.app import GitHubApp
from github.client.repository import RepositoryHandle
from github.emulator.local import LocalGitHub
from tests.github.conftest import TestClock


def packed(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return out.getvalue()


class Backend:
    """Artifacts of one run, and a storage on another host that refuses `Authorization`, as Azure's does."""

    def __init__(self) -> None:
        self.artifacts: list[dict[str, Any]] = []
        self.blobs: dict[int, bytes] = {}
        self.fetched: list[int] = []

    def add(self, name: str, content: bytes, **fields: Any) -> None:
        number = len(self.artifacts) + 1
        self.artifacts.append({"id": number, "name": name, "size_in_bytes": len(content), "expired": False, **fields})
        self.blobs[number] = content

    def __call__(self, request: httpx.Request) -> httpx.Response:
        path = request.url.path
        if request.url.host == "blobs.example":
            assert "authorization" not in request.headers
            number = int(path.rpartition("/")[2])
            self.fetched.append(number)
            return httpx.Response(200, content=self.blobs[number])
        if path.endswith("/access_tokens"):
            token = {"token": "ghs_x", "expires_at": "2999-01-01T00:00:00Z", "permissions": {"actions": "read"}}
            return httpx.Response(201, json=token)
        if path.startswith("/app/installations/"):
            return httpx.Response(200, json={"id": 5, "permissions": {"actions": "read"}})
        if path.endswith("/artifacts"):
            return httpx.Response(200, json={"total_count": len(self.artifacts), "artifacts": self.artifacts})
        if path.endswith("/zip"):
            return httpx.Response(302, headers={"location": f"https://blobs.example/{path.split('/')[-2]}"})
        return httpx.Response(404, json={"message": "Not Found"})


@pytest.fixture
def backend() -> Backend:
    return Backend()


@pytest.fixture
async def remote(backend: Backend, shared_github: LocalGitHub) -> AsyncIterator[RepositoryHandle]:
    async with httpx.AsyncClient(transport=httpx.MockTransport(backend)) as http:
        app = GitHubApp(1, shared_github.app.private_key, http=http, clock=TestClock())
        yield RepositoryHandle(app, 5, 7, "octo/app")


async def test_reports_are_read_from_artifacts_whose_names_promise_them(
    remote: RepositoryHandle, backend: Backend
) -> None:
    backend.add("dist", packed(**{"shop.whl": b"w", "pom.xml": b"<project/>"}))
    backend.add("junit (3.12)", packed(**{"out/report.xml": b"<testsuite/>", "readme.txt": b"x"}))
    assert await report_files(remote, 90) == [ReportFile("out/report.xml", b"<testsuite/>")]
    assert backend.fetched == [2]


async def test_expired_large_broken_and_further_artifacts_are_left_alone(
    remote: RepositoryHandle, backend: Backend
) -> None:
    backend.add("test-old", packed(**{"a.xml": b"a"}), expired=True)
    backend.add("test-large", packed(**{"a.xml": b"a"}), size_in_bytes=PACKED + 1)
    backend.add("test-broken", b"no zip")
    for _ in range(6):
        backend.add("test-results", packed(**{"a.xml": b"a"}))
    assert len(await report_files(remote, 90)) == FETCHED - 1
    assert backend.fetched == [3, 4, 5, 6]


async def test_an_artifact_larger_than_it_said_is_given_up(remote: RepositoryHandle, backend: Backend) -> None:
    backend.add("test-results", b"x" * (PACKED + 1), size_in_bytes=10)
    assert await report_files(remote, 90) == []


def test_a_file_that_unpacks_to_too_much_is_left_out_and_all_together_are_bounded() -> None:
    assert unpacked(packed(**{"bomb.xml": bytes(UNPACKED + 1), "a.trx": b"ok"})) == [ReportFile("a.trx", b"ok")]
    many = unpacked(packed(**{f"{n}.xml": bytes(UNPACKED) for n in range(8)}))
    assert sum(len(each.content) for each in many) <= TOTAL


def test_an_archive_of_very_many_entries_is_left_alone() -> None:
    assert unpacked(packed(**{f"{n}.xml": b"" for n in range(ENTRIES + 1)})) == []


@pytest.mark.parametrize("method", [zipfile.ZIP_LZMA, zipfile.ZIP_BZIP2, zipfile.ZIP_DEFLATED])
def test_a_damaged_file_in_an_archive_ends_its_reading_and_no_more(method: int) -> None:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", method) as archive:
        archive.writestr("a.xml", b"<testsuite/>")
        archive.writestr("b.xml", bytes(range(256)) * 40)
    raw = bytearray(buffer.getvalue())
    at = raw.rindex(b"b.xml", 0, raw.index(b"PK\x01\x02")) + len(b"b.xml")
    raw[at : at + 40] = b"\xff" * 40
    assert unpacked(bytes(raw)) == [ReportFile("a.xml", b"<testsuite/>")]
