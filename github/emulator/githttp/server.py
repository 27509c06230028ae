"""git over HTTP: `git http-backend` on the bare repositories, behind GitHub's doors.

A push asks back through the proc-receive hook (`/_local/pushes/{id}`), and its ref updates become events when git
has made them.
"""

import asyncio
import secrets
import sys
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

import structlog
from starlette.requests import Request
from starlette.responses import JSONResponse, PlainTextResponse, Response, StreamingResponse

from github.emulator.actor import Actor
from github.emulator.acts import pushes
from github.emulator.api.access import holds, sees
from github.emulator.api.auth import authenticate
from github.emulator.errors import Refusal
from github.emulator.git import refs
from github.emulator.git.refs import Update
from github.emulator.git.repository import ZERO, clean_environment
from github.emulator.githttp import lfs_objects
from github.emulator.hub import Hub
from github.emulator.rules import policy
from github.emulator.store.repositories import Repository

log = structlog.get_logger(__name__)

P = TypeVar("P", asyncio.StreamReader, asyncio.StreamWriter)
HOOK = Path(__file__).with_name("proc_receive.py")
CHUNK = 65_536


@dataclass
class Push:
    """A push under way: what the hook was asked about and let through."""

    repository: Repository
    actor: Actor
    accepted: list[Update] = field(default_factory=list)


def install_hooks(folder: Path) -> None:
    """Write the hook that all repositories share (`core.hooksPath`)."""
    folder.mkdir(parents=True, exist_ok=True)
    hook = folder / "proc-receive"
    hook.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S -E "{HOOK}"\n')
    hook.chmod(0o755)


class GitHttp:
    """The three git endpoints of every repository, and the question of the hook."""

    def __init__(self, hub: Hub) -> None:
        self._hub = hub
        self._pushes: dict[str, Push] = {}
        self._hooks = hub.store.folder / "hooks"
        install_hooks(self._hooks)

    async def serve(self, request: Request) -> Response:
        """One git request."""
        service = request.path_params["tail"].removeprefix("info/refs") or request.query_params.get("service", "")
        pushes_now = service == "git-receive-pack"
        try:
            actor, repository = self.let_in(request, pushes_now)
        except Refusal as refusal:
            return PlainTextResponse(f"{refusal.message}\n", refusal.status, headers=refusal.headers)
        return await self._backend(request, actor, repository, pushes_now)

    def let_in(self, request: Request, push: bool) -> tuple[Actor, Repository]:
        """The caller and the repository of the path, if the one may read the other, or push to it. Raises `Refusal`."""
        owner, name = request.path_params["owner"], request.path_params["repo"].removesuffix(".git")
        actor = self._caller(request)
        return actor, self._repository(actor, owner, name, request, push)

    def _caller(self, request: Request) -> Actor:
        try:
            return authenticate(self._hub.store, self._hub.faults, request.headers.get("authorization"))
        except Refusal as refusal:
            if refusal.status == 403:
                raise
            text = "Invalid username or token. Password authentication is not supported for Git operations."
            raise Refusal(401, text, headers={"www-authenticate": 'Basic realm="GitHub"'}) from refusal

    def _repository(self, actor: Actor, owner: str, name: str, request: Request, push: bool) -> Repository:
        store, full_name = self._hub.store, f"{owner}/{name}"
        repository = store.repository(full_name)
        moved = store.repositories.get(store.renames.get(full_name.lower(), 0))
        if actor.kind == "anonymous" and (push or repository is None or repository.private):
            raise Refusal(401, "Repository not found.", headers={"www-authenticate": 'Basic realm="GitHub"'})
        if repository is None and moved is not None and sees(actor, moved):
            tail = request.url.path.split("/", 3)[3]
            url = f"{self._hub.store.origins.web}/{moved.full_name}.git/{tail}"
            query = f"?{request.url.query}" if request.url.query else ""
            raise Refusal(301, "Moved Permanently", headers={"location": url + query})
        if repository is None or not sees(actor, repository):
            raise Refusal(404, "Repository not found.")
        self._may(actor, repository, push)
        return repository

    def _may(self, actor: Actor, repository: Repository, push: bool) -> None:
        who = actor.user.login if actor.user else "nobody"
        if push:
            allowed = (
                holds(actor, "contents", "write")
                if actor.token
                else repository.allows(actor.user, "write") or self._maintains(actor, repository)
            )
            if not allowed:
                raise Refusal(403, f"Permission to {repository.full_name}.git denied to {who}.")
            if repository.archived:
                raise Refusal(403, "This repository was archived so it is read-only.")
        elif actor.token and repository.private and not holds(actor, "contents", "read"):
            raise Refusal(403, "Write access to repository not granted.")

    def _maintains(self, actor: Actor, fork: Repository) -> bool:
        """Those who may push to the base of an open pull request that lets maintainers modify may push to its head."""
        return any(
            pull.open and pull.maintainer_can_modify and pull.head_repository is fork
            for pull in self._hub.store.pulls
            if pull.repository.allows(actor.user, "write")
        )

    def judge(self, push_id: str, updates: list[list[str]]) -> JSONResponse:
        """The hook's question: which refs are refused, in which words."""
        push = self._pushes.get(push_id)
        if push is None:
            return JSONResponse({"remote": ["no such push"], "refused": {ref: "no such push" for _, _, ref in updates}})
        remote: list[str] = []
        refused: dict[str, str] = {}
        for old, new, ref in updates:
            update = Update(old, new, ref)
            verdict = policy.check(self._hub.store, push.repository, push.actor, update) or self._objects(push, update)
            if verdict is None:
                push.accepted.append(update)
            else:
                remote += verdict.remote
                refused[ref] = verdict.reason
        return JSONResponse({"remote": remote, "refused": refused})

    def _objects(self, push: Push, update: Update) -> policy.RefusedPush | None:
        """A push whose LFS objects are not here is refused."""
        gone = lfs_objects.missing(self._hub.store, push.repository, update)
        if not gone:
            return None
        noun = "object" if len(gone) == 1 else "objects"
        first = f"error: GH008: Your push referenced at least {len(gone)} unknown Git LFS {noun}:"
        words = (first, *[f"    {oid}" for oid in gone], "Try to push them with 'git lfs push --all'.")
        return policy.RefusedPush("pre-receive hook declined", words)

    async def _backend(self, request: Request, actor: Actor, repository: Repository, push: bool) -> Response:
        push_id = secrets.token_hex(8)
        if push:
            self._pushes[push_id] = Push(repository, actor)
        environment = clean_environment() | {
            "GIT_PROJECT_ROOT": str(repository.git.path),
            "GIT_HTTP_EXPORT_ALL": "1",
            "PATH_INFO": f"/{request.path_params['tail']}",
            "QUERY_STRING": request.url.query,
            "REQUEST_METHOD": request.method,
            "CONTENT_TYPE": request.headers.get("content-type", ""),
            "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
            "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
            "REMOTE_USER": actor.user.login if actor.user else "",
            "REMOTE_ADDR": "127.0.0.1",
            "LOCAL_GITHUB_PUSH": f"{self._hub.store.origins.web}/_local/pushes/{push_id}",
            "GIT_CONFIG_COUNT": "1",
            "GIT_CONFIG_KEY_0": "core.hooksPath",
            "GIT_CONFIG_VALUE_0": str(self._hooks),
        }
        if "content-length" in request.headers:
            environment["CONTENT_LENGTH"] = request.headers["content-length"]
        process = await asyncio.create_subprocess_exec(
            "git",
            "http-backend",
            env=environment,
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.DEVNULL,
        )
        feeder = asyncio.create_task(_feed(request, process))
        out = _pipe(process.stdout)
        status, headers = 200, {}
        while (line := (await out.readline()).decode().strip()) != "":
            key, _, value = line.partition(":")
            if key.lower() == "status":
                status = int(value.split()[0])
            else:
                headers[key] = value.strip()
        stream = self._stream(process, feeder, push_id)
        return StreamingResponse(stream, status, headers)

    async def _stream(
        self, process: asyncio.subprocess.Process, feeder: "asyncio.Task[None]", push_id: str
    ) -> AsyncIterator[bytes]:
        out = _pipe(process.stdout)
        try:
            pending = b""
            while chunk := await out.read(CHUNK):
                if pending:
                    yield pending
                pending = chunk
            await process.wait()
            # the events are on their way before the pusher hears that the push is over
            self._finish(push_id)
            if pending:
                yield pending
        finally:
            feeder.cancel()
            if process.returncode is None:
                process.kill()
                await process.wait()
            self._pushes.pop(push_id, None)

    def _finish(self, push_id: str) -> None:
        push = self._pushes.pop(push_id, None)
        for update in push.accepted if push else []:
            now = refs.sha_of(push.repository.git, update.ref) if push else None
            if push and push.actor.user and (now or ZERO) == update.new:
                pushes.pushed(self._hub.forge, push.repository, update, push.actor.user)


def _pipe(end: P | None) -> P:
    """A pipe that was asked for when the process was started."""
    if end is None:
        raise ValueError("the process was started without this pipe")
    return end


async def _feed(request: Request, process: asyncio.subprocess.Process) -> None:
    """Pass the request's body on to git."""
    stdin = _pipe(process.stdin)
    try:
        async for chunk in request.stream():
            stdin.write(chunk)
            await stdin.drain()
    except (BrokenPipeError, ConnectionResetError):
        log.debug("git.stopped_reading", pid=process.pid)
    finally:
        stdin.close()
