"""No agent asks anybody but its model: where a box has no other way out, each question costs seconds or minutes."""

import contextlib
import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from loops.runtimes import registry
from loops.runtimes.base import Credential, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Reply
from loops.runtimes.scripted.server import ModelServer
from tests.loops.runtimes.box import Box
from tests.loops.runtimes.real import KEY
from tests.tools import missing, need

ROOT = Path(__file__).parents[3]
CLIS = tuple(agent.name for agent in registry.agents() if agent.package)

pytestmark = pytest.mark.timeout(400)


@contextlib.contextmanager
def way_out() -> Iterator[tuple[str, list[str]]]:
    """(the URL of a proxy that lets nobody out, what was asked of it)."""
    asked: list[str] = []

    class Closed(BaseHTTPRequestHandler):
        def refuse(self) -> None:
            asked.append(f"{self.command} {self.path}")
            self.send_response(502)
            self.end_headers()

        do_GET = do_POST = do_HEAD = do_CONNECT = refuse

        def log_message(self, *_: object) -> None:
            return

    server = ThreadingHTTPServer(("127.0.0.1", 0), Closed)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        server.server_close()
        thread.join(timeout=10)


@pytest.mark.parametrize("cli", CLIS)
def test_a_turn_asks_nobody_but_its_model(cli: str, tmp_path: Path) -> None:
    box, smoke = Box(tmp_path), registry.smoke(cli)
    with way_out() as (proxy, asked), ModelServer({"x": Script(Reply("Done."))}) as server:
        names = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY")
        proxies = {name: proxy for each in names for name in (each, each.lower())}
        turn = TurnRequest(
            prompt="Say that it is done.",
            model="scripted-1",
            provider=smoke.provider,
            base_url=server.base_url("x", smoke.wire),
            credential=Credential("api_key", KEY),
            program=need(registry.get(cli).program),
            env={**proxies, "NO_PROXY": "127.0.0.1", "no_proxy": "127.0.0.1"},
        )
        ran = box.run(registry.get(cli), turn, seconds=350)
    assert (ran.outcome.message, ran.outcome.error) == ("Done.", None)
    assert asked == []


@pytest.mark.parametrize("cli", CLIS)
def test_a_turn_looks_up_no_name_where_all_but_its_model_is_cut_off(cli: str, tmp_path: Path) -> None:
    need(registry.get(cli).program)
    names = tmp_path / "resolv.conf"
    names.write_text("nameserver 127.0.0.1\n")
    walls = [need("bwrap"), "--unshare-user", "--unshare-net", "--uid", "0", "--gid", "0"]
    walls += ["--cap-add", "CAP_NET_BIND_SERVICE", "--dev-bind", "/", "/"]
    walls += ["--ro-bind", str(names), str(Path("/etc/resolv.conf").resolve())]
    words = [*walls, sys.executable, "-m", "tests.loops.runtimes.cut_off", cli]
    done = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=380, check=False)
    if done.stderr.startswith("bwrap:"):
        missing(f"this test needs a network of its own: {done.stderr}")
    told = json.loads(done.stdout or "{}")
    assert told == {"message": "Done.", "error": None, "heard": True, "asked": []}, done.stderr[-2_000:]
