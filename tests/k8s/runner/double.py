"""A service that speaks the runner's protocol over real HTTP, with real git repositories behind it.

It is as strict as the protocol: unknown tokens are refused, a turn's requests take that turn's own, only whole lines of
output are consumed, blobs are checked by their sha, git is served only to a token that was minted for this turn and is
not revoked.
"""

import asyncio
import base64
import contextlib
import hashlib
import os
import secrets
import socket
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import uvicorn
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from k8s.runner import protocol

BOX = "box-1"
BOX_TOKEN = "box-token-for-tests"


@dataclass
class Told:
    """What the service knows of one turn."""

    turn: dict[str, Any]
    box: str = BOX
    handed_out: list[float] = field(default_factory=list)
    output: bytearray = field(default_factory=bytearray)
    consumed: int = 0
    first_output: float | None = None
    ended: bool = False
    states: list[str] = field(default_factory=list)
    heard: list[float] = field(default_factory=list)
    cancel: str | None = None
    tokens: list[str] = field(default_factory=list)
    revoked: list[str] = field(default_factory=list)
    objects: dict[str, bytes] = field(default_factory=dict)
    earlier: dict[str, bytes] = field(default_factory=dict)
    """What an earlier round of the turn had stored."""
    object_puts: int = 0
    result: dict[str, Any] | None = None
    results: int = 0
    gone: bool = False
    evidence: dict[str, bytes] = field(default_factory=dict)
    secrets: list[str] = field(default_factory=list)
    edited: list[str] = field(default_factory=list)
    work: list[protocol.Result] = field(default_factory=list)
    """What was told of it while its agent worked."""
    former: bool = False

    @property
    def token(self) -> str:
        """The turn's own token; where a service of the former release handed it out, the box's."""
        return BOX_TOKEN if self.former else f"token-of-{self.turn['turn']}"


class Service:
    """Start it with `with Service(...)`: a thread with a server. `repositories` holds bare repositories `o/r.git`."""

    def __init__(self, repositories: Path) -> None:
        self.forget(repositories)
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.port = probe.getsockname()[1]
        self._server: uvicorn.Server | None = None
        self._thread: threading.Thread | None = None

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def __enter__(self) -> "Service":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()

    def start(self) -> None:
        app = Starlette(
            routes=[
                Route("/boxes/{box}/next", self._next, methods=["POST"]),
                Route("/turns/{turn}/token", self._token, methods=["POST", "DELETE"]),
                Route("/turns/{turn}/evidence/{name}", self._evidence, methods=["GET"]),
                Route("/turns/{turn}/output", self._output, methods=["POST"]),
                Route("/turns/{turn}/objects/{sha}", self._object, methods=["PUT"]),
                Route("/turns/{turn}/objects/{sha}", self._earlier, methods=["GET"]),
                Route("/turns/{turn}/secrets", self._secrets, methods=["GET"]),
                Route("/turns/{turn}/edited", self._edited, methods=["GET"]),
                Route("/turns/{turn}/work", self._work, methods=["PUT"]),
                Route("/turns/{turn}/result", self._result, methods=["PUT"]),
                Route("/{path:path}", self._git, methods=["GET", "POST"]),
            ]
        )
        config = uvicorn.Config(app, host="127.0.0.1", port=self.port, log_level="error", ws="none", lifespan="off")
        config.timeout_graceful_shutdown, config.timeout_keep_alive = 1, 60
        server = uvicorn.Server(config)
        self._server = server
        self._thread = threading.Thread(target=server.run, daemon=True)
        self._thread.start()
        until = time.monotonic() + 60
        while not server.started:
            assert time.monotonic() < until, "the service did not start"
            time.sleep(0.005)

    @property
    def running(self) -> bool:
        return self._thread is not None and self._thread.is_alive()

    def stop(self) -> None:
        if self._server and self._thread:
            self._server.should_exit = True
            self._server.force_exit = True
            self._thread.join(10)

    def forget(self, repositories: Path) -> None:
        """Be as new: no turns, no faults."""
        self.repositories = repositories
        self.told: dict[str, Told] = {}
        self.down = False
        self.refuse_tokens = False
        self.before_answer: Callable[[str], None] | None = None
        self.requests: list[str] = []
        self.before_git: Callable[[str], None] | None = None
        self.refuse_git = 0
        self.git_paths: list[str] = []
        self.git_protocol: str | None = None

    # what tests do

    def give(
        self, turn: dict[str, Any], evidence: dict[str, bytes] | None = None, earlier: dict[str, bytes] | None = None
    ) -> Told:
        """Queue a turn for the box; `earlier` is what an earlier round of it had stored."""
        told = Told(turn, evidence=evidence or {}, earlier=earlier or {})
        self.told[turn["turn"]] = told
        return told

    def wait(self, condition: Callable[[], object], seconds: float = 60, what: str = "") -> None:
        """Wait until `condition` holds."""
        until = time.monotonic() + seconds
        while not condition():
            assert time.monotonic() < until, f"waited {seconds} s in vain: {what}"
            time.sleep(0.01)

    def result(self, told: Told, seconds: float = 60) -> protocol.Result:
        """Wait for the result of a turn."""
        self.wait(lambda: told.result is not None, seconds, f"for the result; states {told.states[-3:]}")
        return protocol.result_from_json(told.result)

    # what the runner asks

    def _refusal(self, request: Request) -> Response | None:
        self.requests.append(f"{request.method} {request.url.path}")
        if self.down:
            return JSONResponse({"error": "restarting"}, 503)
        told = self.told.get(request.path_params.get("turn", ""))
        token = told.token if told is not None else BOX_TOKEN
        if self.refuse_tokens or request.headers.get("authorization") != f"Bearer {token}":
            return JSONResponse({"error": "unknown token"}, 401)
        if "turn" in request.path_params:
            if told is None:
                return JSONResponse({"error": "no such turn"}, 404)
            if told.gone:
                return JSONResponse({"error": "the turn is over"}, 409)
        return None

    async def _next(self, request: Request) -> Response:
        held = (await request.json())["runner"]["turns"]
        until = time.monotonic() + 2
        while time.monotonic() < until:
            refusal = self._refusal(request)
            if refusal is not None:
                return refusal
            if await request.is_disconnected():
                break
            if request.path_params["box"] != BOX:
                return JSONResponse({"error": "not your box"}, 403)
            for told in self.told.values():
                if (
                    told.result is None
                    and told.first_output is None
                    and not told.gone
                    and told.turn["turn"] not in held
                ):
                    told.handed_out.append(time.monotonic())
                    return JSONResponse(told.turn | ({} if told.former else {"token": told.token}))
            await asyncio.sleep(0.005)
        return Response(status_code=204)

    async def _token(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        told = self.told[request.path_params["turn"]]
        if request.method == "DELETE":
            told.revoked.append((await request.json())["token"])
            return Response(status_code=204)
        token = "ghs_" + secrets.token_hex(18)
        told.tokens.append(token)
        name = told.turn["repository"]["full_name"]
        return JSONResponse({"url": f"{self.url}/{name}.git", "token": token, "username": "x-access-token"})

    async def _evidence(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        found = self.told[request.path_params["turn"]].evidence.get(request.path_params["name"])
        return Response(found) if found is not None else JSONResponse({"error": "no such evidence"}, 404)

    async def _output(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        told = self.told[request.path_params["turn"]]
        posted = protocol.output_from_json(await request.json())
        data = base64.b64decode(posted.data)
        told.states.append(posted.state)
        told.heard.append(time.monotonic())
        assert posted.offset <= told.consumed, "a gap in the output"
        new = data[told.consumed - posted.offset :]
        if not posted.end:
            whole = new.rfind(b"\n") + 1
            new = new[:whole] if whole or len(new) <= protocol.LONGEST_LINE else new
        if new:
            told.first_output = told.first_output or time.monotonic()
            told.output += new
            told.consumed += len(new)
        told.ended = told.ended or posted.end
        if self.before_answer:
            self.before_answer(request.path_params["turn"])
        return JSONResponse({"offset": told.consumed, "cancel": told.cancel})

    async def _object(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        told = self.told[request.path_params["turn"]]
        content = await request.body()
        sha = hashlib.sha1(f"blob {len(content)}\0".encode() + content, usedforsecurity=False).hexdigest()
        if sha != request.path_params["sha"]:
            return JSONResponse({"error": f"that is {sha}"}, 422)
        told.objects[sha] = content
        told.object_puts += 1
        return Response(status_code=204)

    async def _earlier(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        content = self.told[request.path_params["turn"]].earlier.get(request.path_params["sha"])
        return Response(status_code=404) if content is None else Response(content)

    async def _secrets(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        return JSONResponse({"spellings": self.told[request.path_params["turn"]].secrets})

    async def _edited(self, request: Request) -> Response:
        return self._refusal(request) or JSONResponse({"paths": self.told[request.path_params["turn"]].edited})

    async def _work(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        told = self.told[request.path_params["turn"]]
        work = protocol.result_from_json(await request.json())
        assert work.reason == protocol.WORKING and told.result is None
        assert told.turn["work_seconds"] > 0, "work that nobody wants to be told"
        told.work.append(work)
        return Response(status_code=204)

    async def _result(self, request: Request) -> Response:
        if refusal := self._refusal(request):
            return refusal
        told = self.told[request.path_params["turn"]]
        told.results += 1
        if told.result is None:
            result = await request.json()
            assert told.consumed == result["output_bytes"], "a result before all output"
            named = {sha for change in result["changes"] for sha in (change["sha"], change["lfs"]) if sha}
            assert named == set(told.objects)
            told.result = result
        return Response(status_code=204)

    async def _git(self, request: Request) -> Response:
        login = request.headers.get("authorization", "")
        live = {token for told in self.told.values() for token in told.tokens if token not in told.revoked}
        accepted = {"Basic " + base64.b64encode(f"x-access-token:{token}".encode()).decode() for token in live}
        self.git_paths.append(request.url.path)
        if login and self.refuse_git > 0:
            self.refuse_git -= 1
            login = ""
        if login not in accepted:
            return Response(status_code=401, headers={"www-authenticate": 'Basic realm="git"'})
        return await run_in_threadpool(self._backend, request.method, request, await request.body())

    def _backend(self, method: str, request: Request, body: bytes) -> Response:
        env = {
            "PATH": os.environ["PATH"],
            "GIT_PROJECT_ROOT": str(self.repositories),
            "GIT_HTTP_EXPORT_ALL": "1",
            "REQUEST_METHOD": method,
            "PATH_INFO": request.url.path,
            "QUERY_STRING": request.url.query,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "CONTENT_LENGTH": str(len(body)),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", "") if self.git_protocol is None else self.git_protocol,
        }
        if self.before_git:
            self.before_git(request.url.path)
        answer = subprocess.run(["git", "http-backend"], input=body, env=env, capture_output=True, check=False).stdout
        head, _, content = answer.partition(b"\r\n\r\n")
        headers = dict(line.decode().split(": ", 1) for line in head.split(b"\r\n") if line)
        status = int(headers.pop("Status", "200").split()[0])
        return Response(content, status, headers)


def git(folder: Path, *arguments: str, stdin: bytes = b"") -> str:
    """Run git as a person would, with an identity and no configuration of this machine."""
    env = {
        "PATH": os.environ["PATH"],
        "HOME": "/nonexistent",
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": value for who in ("AUTHOR", "COMMITTER") for what, value in
           (("NAME", "Ann"), ("EMAIL", "ann@example.com"))},
    }  # fmt: skip
    done = subprocess.run(
        ["git", "-c", "protocol.file.allow=always", *arguments],
        cwd=folder, env=env, input=stdin, capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode("utf-8", "surrogateescape").strip()


def publish(work: Path, bare: Path, message: str = "more") -> str:
    """Commit all of `work` and push it to `bare`: the commit."""
    git(work, "add", "-A")
    git(work, "commit", "-q", "--allow-empty", "-m", message)
    bare.parent.mkdir(parents=True, exist_ok=True)
    if not bare.exists():
        git(bare.parent, "init", "-q", "--bare", bare.name)
    git(work, "push", "-q", "--force", str(bare), "HEAD")
    return git(work, "rev-parse", "HEAD")


@contextlib.contextmanager
def running(process: "subprocess.Popen[bytes]") -> Iterator["subprocess.Popen[bytes]"]:
    """End the process when the block is left."""
    try:
        yield process
    finally:
        if process.poll() is None:
            process.terminate()
            try:
                process.wait(10)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
