"""A newcomer's first hour with GitHub's own command line.

It only speaks TLS to named hosts, but through a Unix socket it speaks plain HTTP: that leads to the local GitHub.
"""

import asyncio
import contextlib
import json
import subprocess
import threading
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.github.contract.clients.foreign import environment
from tests.github.contract.local import LocalTarget
from tests.github.contract.target import Target
from tests.tools import need

Gh = Callable[..., str]


@contextlib.contextmanager
def relay(path: Path, url: str) -> Iterator[None]:
    """A Unix socket whose connections end at the host and port of `url`."""
    where, loop = urlsplit(url), asyncio.new_event_loop()

    async def pipe(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(ConnectionError):
            while data := await reader.read(65_536):
                writer.write(data)
                await writer.drain()
        writer.close()

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        there, back = await asyncio.open_connection(where.hostname, where.port)
        await asyncio.gather(pipe(reader, back), pipe(there, writer))

    server = loop.run_until_complete(asyncio.start_unix_server(connected, path))
    thread = threading.Thread(target=loop.run_forever)
    thread.start()

    async def close() -> None:
        server.close()
        rest = asyncio.all_tasks() - {asyncio.current_task()}
        for task in rest:
            task.cancel()
        await asyncio.gather(*rest, return_exceptions=True)

    try:
        yield
    finally:
        asyncio.run_coroutine_threadsafe(close(), loop).result(30)
        loop.call_soon_threadsafe(loop.stop)
        thread.join(30)
        loop.close()


@pytest.fixture
def gh(target: Target, tmp_path: Path) -> Iterator[Gh]:
    """Runs `gh` on the target's repository, by whatever token there is; what it prints, or AssertionError."""
    program, socket = need("gh"), tmp_path / "s"
    token = target.tokens.get("person") or next(iter(target.tokens.values()))
    more = {"GH_TOKEN": token, "GH_REPO": target.repository, "GH_CONFIG_DIR": str(tmp_path), "GH_PROMPT_DISABLED": "1"}
    if target.real and (host := str(urlsplit(target.api_url).hostname)) != "api.github.com":
        more |= {"GH_HOST": host, "GH_ENTERPRISE_TOKEN": token}
    subprocess.run(["git", "init", "-q", str(tmp_path)], check=True)  # it asks git where it is
    if isinstance(target, LocalTarget):
        (tmp_path / "config.yml").write_text(f"http_unix_socket: {socket}\n")

    def run(*args: str, code: int = 0) -> str:
        ended = subprocess.run(
            [program, *args],
            env=environment(**more),
            cwd=tmp_path,
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        assert ended.returncode == code, f"gh {' '.join(args)}\n{ended.stdout}{ended.stderr}"
        return ended.stdout + (ended.stderr if code else "")

    with relay(socket, target.api_url) if isinstance(target, LocalTarget) else contextlib.nullcontext():
        yield run


def rows(text: str) -> Any:
    return json.loads(text)


def test_gh_opens_and_follows_a_pull_request_and_an_issue(target: Target, gh: Gh) -> None:
    repo = f"repos/{target.repository}"
    seen = rows(gh("repo", "view", target.repository, "--json", "nameWithOwner,defaultBranchRef"))
    assert seen == {"nameWithOwner": target.repository, "defaultBranchRef": {"name": target.default}}

    branch = f"{target.prefix}gh-{uuid.uuid4().hex[:6]}"
    base = gh("api", f"{repo}/git/ref/heads/{target.default}", "--jq", ".object.sha").strip()
    tree = gh(
        *("api", f"{repo}/git/trees", "-f", f"base_tree={base}", "-f", "tree[][path]=contract.txt"),
        *("-f", "tree[][mode]=100644", "-f", "tree[][type]=blob", "-f", "tree[][content]=x", "--jq", ".sha"),
    ).strip()
    commit = gh(
        "api",
        f"{repo}/git/commits",
        "-f",
        "message=By gh",
        "-f",
        f"tree={tree}",
        "-f",
        f"parents[]={base}",
        "-q",
        ".sha",
    ).strip()
    gh("api", f"{repo}/git/refs", "-f", f"ref=refs/heads/{branch}", "-f", f"sha={commit}", "--silent")
    try:
        about = ("--base", target.default, "--title", "T", "--body", "B", "--draft")
        url = gh("pr", "create", "-R", target.repository, "--head", branch, *about)
        number = url.strip().rsplit("/", 1)[-1]
        listed = rows(gh("pr", "list", "--head", branch, "--json", "number,isDraft,headRefOid"))
        assert listed == [{"number": int(number), "isDraft": True, "headRefOid": commit}]
        gh("pr", "ready", number)
        gh("pr", "comment", number, "--body", "Hello from gh")
        assert "Hello from gh" in gh("pr", "view", number, "--comments")
        assert "+x" in gh("pr", "diff", number)

        gh("api", f"{repo}/statuses/{commit}", "-f", "state=success", "-f", "context=contract", "--silent")
        assert gh("pr", "checks", number).split()[:2] == ["contract", "pass"]
        gh("api", f"{repo}/statuses/{commit}", "-f", "state=failure", "-f", "context=contract", "--silent")
        assert gh("pr", "checks", number, code=1).split()[:2] == ["contract", "fail"]
        gh("pr", "close", number)
        state = rows(gh("pr", "view", number, "--json", "state,isDraft,author,statusCheckRollup"))
        assert (state["state"], state["isDraft"]) == ("CLOSED", False)
        assert [check["state"] for check in state["statusCheckRollup"]] == ["FAILURE"]
    finally:
        gh("api", "-X", "DELETE", f"{repo}/git/refs/heads/{branch}")

    number = gh("issue", "create", "--title", "A question by gh", "--body", "How").strip().rsplit("/", 1)[-1]
    gh("issue", "comment", number, "--body", "Like this")
    assert "A question by gh" in gh("issue", "view", number)
    assert int(number) in [row["number"] for row in rows(gh("issue", "list", "--json", "number"))]
    gh("issue", "close", number)
    assert int(number) not in [row["number"] for row in rows(gh("issue", "list", "--json", "number"))]


def test_gh_lists_runs_workflows_and_labels_pages_and_says_what_is_wrong(target: Target, gh: Gh) -> None:
    repo = f"repos/{target.repository}"
    for command in (["run", "list"], ["workflow", "list"], ["label", "list"]):
        gh(*command)
    commits = gh("api", f"{repo}/commits?per_page=1", "--jq", ".[].sha").split()
    assert len(commits) == 1
    branches = gh("api", "--paginate", f"{repo}/branches?per_page=1", "--jq", ".[].name").split()
    assert target.default in branches
    asked = gh(
        "api", "graphql", "-f", "query={ viewer { login } rateLimit { remaining } }", "--jq", ".data.viewer.login"
    )
    assert asked.strip()
    assert "HTTP 404" in gh("api", f"{repo}/no/such/path", code=1)
    assert "Could not resolve to" in gh("pr", "view", "99999999", "--json", "title", code=1)
