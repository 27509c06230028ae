"""`greenloop github` serves a local GitHub that another process can steer and use."""

import asyncio
import json
import signal
import sys
from pathlib import Path

import httpx


async def test_the_command_says_where_it_is_and_obeys_the_control_api(tmp_path: Path) -> None:
    files = tmp_path / "files"
    files.mkdir()
    (files / "a.txt").write_text("hello\n")
    command = [sys.executable, "-m", "app", "github", "--port", "0", "--data", str(tmp_path / "data")]
    command += ["--fault", "ci_delay,seconds=0.1,event=push", "--clock-offset", "200"]
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    try:
        assert process.stdout is not None
        where = json.loads(await asyncio.wait_for(process.stdout.readline(), 60))
        assert Path(where["private_key_file"]).stat().st_mode & 0o077 == 0
        assert Path(where["private_key_file"]).read_text().startswith("-----BEGIN RSA PRIVATE KEY-----")
        async with httpx.AsyncClient(base_url=where["control_url"]) as http:
            alice = (await http.post("/users", json={"login": "alice"})).json()
            body = {"full_name": "alice/widgets", "from_dir": str(files)}
            assert (await http.post("/repositories", json=body)).status_code == 201
            made = await http.post("/installations", json={"owner": "alice", "repositories": ["widgets"]})
            bad = await http.post("/permissions", json={"repository": "alice/nope", "login": "alice", "role": "x"})
            assert bad.status_code == 400 and "unknown role" in bad.json()["message"]
            back = await http.post("/callbacks", json={"urls": ["http://127.0.0.1:8080/signin/callback"]})
            assert back.json() == {"urls": ["http://127.0.0.1:8080/signin/callback"]}
            ask = f"{where['web_url']}/login/oauth/authorize?client_id={where['client_id']}"
            assert "alice" in (await http.get(ask)).text
            assert Path(where["client_secret_file"]).stat().st_mode & 0o077 == 0
            assert (await http.post("/faults", json={"kind": "slow", "seconds": 0.0})).status_code == 201
            state = (await http.get("/state")).json()
            assert [row["id"] for row in state["installations"]] == [made.json()["id"]]
            assert state["repositories"][0]["full_name"] == "alice/widgets" and [
                row["kind"] for row in state["faults"]
            ] == ["ci_delay", "slow"]
            assert (await http.delete("/faults")).json() == []
            headers = {"Authorization": f"token {alice['token']}", "Accept": "application/vnd.github.raw"}
            url = f"{where['api_url']}/repos/alice/widgets/contents/a.txt"
            assert (await http.get(url, headers=headers)).text == "hello\n"
    finally:
        process.send_signal(signal.SIGTERM)
        assert await asyncio.wait_for(process.wait(), 60) == 0
