"""The git gateway under attack: other turns' tokens, other places, smuggled requests, cut streams, too much of it."""

import asyncio
import contextlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from urllib.parse import urlsplit

import pytest
import structlog
from aiohttp import web
from cryptography.fernet import Fernet
from starlette.applications import Starlette

from app.gateway.git.gateway import BODY, GitGateway
from app.gateway.git.upstream import Origin
from app.settings import Settings
from app.web.app import create_app
from app.web.state import AppState
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.migrations import upgrade
from tests.app.boxside import SPEC, TOKEN, seed
from tests.app.gateway.repository import Checkout
from tests.app.serving import serving_both

GITHUB_TOKEN = "ghs_planted-token-of-the-app"
REFS = "info/refs?service=git-upload-pack"
OWN = "/turns/t_1/git/o/r.git"


class GitHub:
    """GitHub's end, which answers by `answer` and notes what reaches it. It knows one repository."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.proofs: list[str] = []
        self.answer: Callable[[web.Request], Awaitable[web.StreamResponse]] = self._fine

    async def _fine(self, request: web.Request) -> web.StreamResponse:
        return web.Response(body=b"fine")

    async def handle(self, request: web.BaseRequest) -> web.StreamResponse:
        self.asked.append(f"{request.method} {request.raw_path if hasattr(request, 'raw_path') else request.path_qs}")
        self.proofs.append(request.headers.get("authorization", ""))
        await request.read()
        return await self.answer(request)  # type: ignore[arg-type]

    @contextlib.asynccontextmanager
    async def serving(self) -> AsyncIterator[str]:
        runner = web.ServerRunner(web.Server(self.handle))
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        try:
            yield f"http://127.0.0.1:{runner.addresses[0][1]}"
        finally:
            await runner.cleanup()


class Origins:
    def __init__(self, url: str) -> None:
        self._url = url

    async def origin(self, installation_id: int, repository_id: int, *, afresh: bool = False) -> Origin:
        return Origin(f"{self._url}/o/r.git", f"Basic {GITHUB_TOKEN}")


@pytest.fixture
def github() -> GitHub:
    return GitHub()


@pytest.fixture
async def box(tmp_path: Path, redis_url: str, github: GitHub) -> AsyncIterator[Checkout]:
    url = f"sqlite:///{tmp_path}/greenloop.db"
    await upgrade(url)
    settings = Settings(data=tmp_path, database_url=url, redis_url=redis_url, webhook_secrets="s")
    database = Database(url)
    async with github.serving() as where:
        git = GitGateway(database, Vault([Fernet.generate_key().decode()]), Origins(where))
        app: Starlette = create_app(settings, git=git)
        async with serving_both(app) as served:
            shared: AppState = app.state.shared
            await seed(shared, status="running")
            yield Checkout(None, shared, served, tmp_path, "")  # type: ignore[arg-type]
    await database.close()


async def raw(box: Checkout, text: str) -> bytes:
    """All that is answered to these bytes, until the connection is closed or nothing comes."""
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(box.served.boxes).port)
    writer.write(text.encode("latin-1"))
    told = b""
    with contextlib.suppress(TimeoutError):
        while piece := await asyncio.wait_for(reader.read(65_536), 10):
            told += piece
            if b"content-length" in told.partition(b"\r\n\r\n")[0].lower():
                break
    writer.close()
    return told


async def test_the_token_of_a_running_turn_opens_its_own_repository_and_github_sees_the_apps(
    box: Checkout, github: GitHub
) -> None:
    async with box.http() as http:
        answer = await http.get(f"{OWN}/{REFS}")
    assert (answer.status_code, answer.content) == (200, b"fine")
    assert github.proofs == [f"Basic {GITHUB_TOKEN}"]
    assert GITHUB_TOKEN not in str(answer.headers)


@pytest.mark.parametrize("token", ["", TOKEN, "glt_" + "A" * 43, "ghs_mine"])
async def test_another_token_opens_nothing(box: Checkout, github: GitHub, token: str) -> None:
    async with box.http(token or "x") as http:
        assert (await http.get(f"{OWN}/{REFS}")).status_code == 401
        assert (await http.post(f"{OWN}/git-upload-pack", content=b"0000")).status_code == 401
    assert github.asked == []


@pytest.mark.parametrize("status", ["reported", "done", "failed", "cancelled", "queued"])
async def test_a_turn_that_does_not_run_reads_nothing(box: Checkout, github: GitHub, status: str) -> None:
    await box.change(status=status)
    async with box.http() as http:
        assert (await http.get(f"{OWN}/{REFS}")).status_code == 403
    assert github.asked == []


@pytest.mark.parametrize("repository", ["o/other", "acme/vault", "O/R2", "o/r.git"])
async def test_a_turn_reads_no_other_repository(box: Checkout, github: GitHub, repository: str) -> None:
    async with box.http() as http:
        answer = await http.get(f"/turns/t_1/git/{repository}.git/{REFS}")
    assert (answer.status_code, "This turn reads o/r, and not" in answer.text) == (403, True)
    assert github.asked == []


@pytest.mark.parametrize(
    "target",
    [
        "/turns/t_1/git//127.0.0.1:1/o/r.git/info/refs?service=git-upload-pack",
        "//127.0.0.1:1/turns/t_1/git/o/r.git/info/refs?service=git-upload-pack",
        "/turns/t_1/git/o/r.git/../../x/y.git/info/refs?service=git-upload-pack",
        "/turns/t_1/git/o/r.git/..%2f..%2fx/info/refs?service=git-upload-pack",
        "/turns/t_1/git/..%2f..%2fo/r.git/info/refs?service=git-upload-pack",
        "/turns/t_1/git/o/r.git%00/info/refs?service=git-upload-pack",
        "/turns/t_1/git/o/r.git/info/refs?service=git-upload-pack&x=http://evil",
        "/turns/t_1/git/o/r.git/info/refs",
        "/turns/t_1/git/o/r.git/HEAD",
        "/turns/t_1/git/o/r.git/objects/info/packs",
        "/turns/t_1/git/@evil/r.git/info/refs?service=git-upload-pack",
    ],
)
async def test_no_path_leads_elsewhere(box: Checkout, github: GitHub, target: str) -> None:
    told = await raw(box, f"GET {target} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {box.token}\r\n\r\n")
    assert told.split()[1] in (b"400", b"401", b"403", b"404"), told
    assert github.asked == []


async def test_an_absolute_address_leads_to_the_same_repository_and_nowhere_else(box: Checkout, github: GitHub) -> None:
    target = f"http://127.0.0.1:1{OWN}/{REFS}"
    told = await raw(box, f"GET {target} HTTP/1.1\r\nHost: evil\r\nAuthorization: Bearer {box.token}\r\n\r\n")
    assert told.split()[1] in (b"200", b"400", b"404")
    assert set(github.asked) <= {f"GET /o/r.git/{REFS}"}


@pytest.mark.parametrize(
    "heads",
    [
        "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
        "Content-Length: 4\r\nContent-Length: 60\r\n",
        "Transfer-Encoding: xchunked\r\n",
        "Transfer-Encoding : chunked\r\n",
        "Transfer-Encoding:\r\n chunked\r\nContent-Length: 5\r\n",
        "X: a\rTransfer-Encoding: chunked\r\nContent-Length: 5\r\n",
        "Upgrade: h2c\r\nConnection: Upgrade\r\nContent-Length: 5\r\n",
        "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nContent-Length: 5\r\n",
    ],
)
async def test_a_request_inside_another_reaches_nobody(box: Checkout, github: GitHub, heads: str) -> None:
    inner = f"GET {OWN}/{REFS} HTTP/1.1\r\nHost: a\r\nX-Smuggled: yes\r\n\r\n"
    text = f"POST {OWN}/git-upload-pack HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {box.token}\r\n{heads}\r\n"
    told = await raw(box, f"{text}0\r\n\r\n{inner}")
    assert told == b"" or told.split()[1] in (b"200", b"400", b"401", b"413"), told
    assert not [line for line in github.asked if line.startswith("GET")], "the inner one has no token of its own"


@pytest.mark.parametrize("size", ["0x4", "-4", "+4", "4_", "2", "10000000000000004", "4\n"])
async def test_a_chunk_of_another_size_than_it_says_reaches_nobody(box: Checkout, github: GitHub, size: str) -> None:
    head = f"POST {OWN}/git-upload-pack HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {box.token}\r\n"
    told = await raw(box, f"{head}Transfer-Encoding: chunked\r\n\r\n{size}\r\n0000\r\n0\r\n\r\n")
    assert told.split()[1] == b"400", told
    assert github.asked == []


async def test_a_token_behind_the_body_opens_nothing(box: Checkout, github: GitHub) -> None:
    head = f"POST {OWN}/git-upload-pack HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n"
    told = await raw(box, f"{head}4\r\n0000\r\n0\r\nAuthorization: Bearer {box.token}\r\n\r\n")
    assert told.split()[1] == b"401", told
    assert github.asked == []


async def test_refusals_are_told_in_the_log_less_and_less(box: Checkout) -> None:
    with structlog.testing.capture_logs() as logs:
        async with box.http("x") as http:
            for _ in range(20):
                assert (await http.get(f"{OWN}/{REFS}")).status_code == 401
    assert [line["so_far"] for line in logs if line["event"] == "git.refused"] == [1, 2, 4, 8, 16]


async def test_a_body_over_the_limit_is_refused_before_it_is_read_and_while_it_comes(
    box: Checkout, github: GitHub
) -> None:
    head = f"POST {OWN}/git-upload-pack HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {box.token}\r\n"
    assert b" 413 " in (await raw(box, f"{head}Content-Length: {BODY + 1}\r\n\r\n"))[:30]

    async def endless() -> AsyncIterator[bytes]:
        for _ in range(BODY // 65_536 + 2):
            yield b"x" * 65_536

    async with box.http() as http:
        assert (await http.post(f"{OWN}/git-upload-pack", content=endless())).status_code == 413
    assert github.asked == []


@pytest.mark.parametrize("told", [100_000, None], ids=["length told", "in pieces"])
async def test_a_stream_that_github_cuts_is_cut_for_the_box_as_well(
    box: Checkout, github: GitHub, told: int | None
) -> None:
    async def cut(request: web.Request) -> web.StreamResponse:
        answer = web.StreamResponse()
        answer.content_length = told
        await answer.prepare(request)
        await answer.write(b"half of it")
        assert request.transport is not None
        request.transport.abort()
        return answer

    github.answer = cut
    text = f"GET {OWN}/{REFS} HTTP/1.1\r\nHost: a\r\nAuthorization: Bearer {box.token}\r\n\r\n"
    reader, writer = await asyncio.open_connection("127.0.0.1", urlsplit(box.served.boxes).port)
    writer.write(text.encode())
    said = await asyncio.wait_for(reader.read(-1), 60)
    writer.close()
    assert not said.endswith(b"0\r\n\r\n"), "an end that was not GitHub's"


@pytest.mark.parametrize("status", [301, 302, 307])
async def test_github_sends_nobody_elsewhere(box: Checkout, github: GitHub, status: int) -> None:
    async def moved(request: web.Request) -> web.StreamResponse:
        return web.Response(status=status, headers={"location": "http://127.0.0.1:1/o/r.git/info/refs"})

    github.answer = moved
    async with box.http() as http:
        answer = await http.get(f"{OWN}/{REFS}")
    assert (answer.status_code, "location" in answer.headers) == (502, False)


async def test_objects_of_lfs_are_read_through_the_gateway_and_nothing_is_written(
    box: Checkout, github: GitHub
) -> None:
    async def lfs(request: web.Request) -> web.StreamResponse:
        if not request.path.endswith("batch"):
            return web.Response(body=b"the content" if request.headers.get("x-proof") == "of-storage" else b"")
        here = f"http://{request.host}/storage/1?signature=abc"
        action = {"href": here, "header": {"x-proof": "of-storage"}}
        actions = {"download": action, "upload": action, "verify": action}
        return web.json_response({"objects": [{"oid": "1" * 64, "size": 11, "actions": actions}]})

    github.answer = lfs
    async with box.http() as http:
        asked = {"operation": "download", "objects": [{"oid": "1" * 64, "size": 11}]}
        told = (await http.post(f"{OWN}/info/lfs/objects/batch", json=asked)).json()
        [actions] = [each["actions"] for each in told["objects"]]
        assert set(actions) == {"download"} and "of-storage" not in json.dumps(told) and "abc" not in json.dumps(told)
        href = actions["download"]["href"]
        assert href.startswith(box.served.boxes)
        assert (await http.get(href, headers=actions["download"]["header"])).content == b"the content"
        assert GITHUB_TOKEN not in github.proofs[-1]
        forged = href[:-4] + "AAAA"
        assert (await http.get(forged)).status_code == 404
        asked["operation"] = "upload"
        refused = await http.post(f"{OWN}/info/lfs/objects/batch", json=asked)
        assert (refused.status_code, "push nothing" in refused.text) == (403, True)
        asked = {"operation": "download", "objects": [{"oid": "../../x/y", "size": 11}]}
        assert (await http.post(f"{OWN}/info/lfs/objects/batch", json=asked)).status_code == 422
    async with box.http(TOKEN) as http:
        assert (await http.get(href)).status_code == 401


async def test_of_a_batch_of_lfs_there_passes_which_objects_are_read(box: Checkout, github: GitHub) -> None:
    passed: list[object] = []

    async def lfs(request: web.Request) -> web.StreamResponse:
        passed.append(await request.json())
        return web.json_response({"objects": []})

    github.answer = lfs
    objects = [{"oid": "1" * 64, "size": 11}]
    more = {"transfers": ["ssh", "custom"], "ref": {"name": "refs/heads/x"}, "hash_algo": "x", "operation": "download"}
    async with box.http() as http:
        asked = {"objects": [{**objects[0], "actions": {"upload": {}}}], **more}
        assert (await http.post(f"{OWN}/info/lfs/objects/batch", json=asked)).status_code == 200
    assert passed == [{"operation": "download", "transfers": ["basic"], "objects": objects}]


async def test_what_a_runner_is_given_to_fetch_with_is_the_gateway_and_its_own_token(
    box: Checkout, github: GitHub
) -> None:
    await box.change(begun_at=None, spec=SPEC)
    async with box.http() as http:
        told = (await http.post("/turns/t_1/token", json={})).json()
        assert told["url"].endswith("/turns/t_1/git/o/r.git") and told["token"] == box.token
        assert (await http.request("DELETE", "/turns/t_1/token", json={"token": told["token"]})).status_code == 204
    assert GITHUB_TOKEN not in json.dumps(told)
