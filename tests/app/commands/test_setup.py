import asyncio
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from pathlib import Path

import httpx
import pytest

from github.emulator import LocalGitHub

HOOK = "http://127.0.0.1:9"


@pytest.fixture
async def local(tmp_path: Path) -> AsyncIterator[LocalGitHub]:
    found = LocalGitHub(tmp_path / "github")
    await found.start()
    yield found
    await found.stop()


async def begin(local: LocalGitHub, folder: Path, *options: str) -> tuple[asyncio.subprocess.Process, httpx.URL]:
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("-m", "app", "setup", HOOK, "--folder", str(folder), *options),
        env={
            "PATH": "/usr/bin:/bin",
            "GREENLOOP_GITHUB_API_URL": local.api_url,
            "GREENLOOP_GITHUB_WEB_URL": local.web_url,
        },
        stdout=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    line = (await process.stdout.readline()).decode()
    found = re.search(r"http://127\.0\.0\.1:\d+", line)
    assert found, line
    return process, httpx.URL(found[0])


def hidden(text: str) -> str:
    found = re.search(r'name="manifest" value="([^"]*)"', text)
    assert found
    return found[1].replace("&#34;", '"').replace("&amp;", "&")


async def agree(local: LocalGitHub, http: httpx.AsyncClient, page: str) -> httpx.URL:
    """What a person's browser does at GitHub; where it is sent then."""
    action = re.search(r'action="([^"]*)"', page)
    assert action
    target = httpx.URL(action[1].replace("&amp;", "&"))
    manifest = hidden(page)
    shown = await http.post(target, data={"manifest": manifest})
    assert shown.status_code == 200
    form = {"manifest": manifest, "state": target.params["state"], "owner": "alice"}
    answer = await http.post(f"{local.web_url}/settings/apps/create", data=form, headers={"Origin": local.web_url})
    return httpx.URL(answer.headers["location"])


async def test_the_app_is_made_in_the_browser_and_its_key_and_secrets_are_kept(
    local: LocalGitHub, tmp_path: Path
) -> None:
    local.add_user("alice")
    folder = tmp_path / "made"
    process, here = await begin(local, folder, "--name", "Loop Bot")
    async with httpx.AsyncClient() as http:
        page = await http.get(here)
        assert local.web_url in page.headers["content-security-policy"]
        back = await agree(local, http, page.text)
        done = await http.get(back)
    assert done.status_code == 200
    out, _ = await process.communicate()
    assert process.returncode == 0
    assert f"{local.web_url}/apps/loop-bot/installations/new" in done.text and b"installations/new" in out
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in folder.iterdir()} == dict.fromkeys(
        ("private-key.pem", "webhook-secret", "client-id", "client-secret", "greenloop.env"), "0o600"
    )
    assert oct(folder.stat().st_mode & 0o777) == "0o700"
    assert (folder / "private-key.pem").read_text().startswith("-----BEGIN RSA")
    secrets = [(folder / name).read_text() for name in ("webhook-secret", "client-secret")]
    assert all(secrets) and not any(secret in out.decode() + done.text for secret in secrets)
    sourced = subprocess.run(
        [
            "sh",
            "-c",
            f". {folder}/greenloop.env; echo $GREENLOOP_APP_ID $GREENLOOP_PUBLIC_URL; "
            "cat $GREENLOOP_WEBHOOK_SECRETS_FILE",
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert re.fullmatch(rf"\d+ {HOOK}\n{secrets[0]}", sourced.stdout)


async def test_an_answer_to_another_set_up_or_a_used_code_makes_nothing_and_says_why(
    local: LocalGitHub, tmp_path: Path
) -> None:
    local.add_user("alice")
    folder = tmp_path / "made"
    process, here = await begin(local, folder)
    async with httpx.AsyncClient() as http:
        page = (await http.get(here)).text
        foreign = await http.get(here.join("/created?code=abc&state=other"))
        assert foreign.status_code == 400 and "another set-up" in foreign.text
        back = await agree(local, http, page)
        unknown = await http.get(back.copy_set_param("code", "nosuchcode"))
        assert unknown.status_code == 502 and "GitHub did not give the App" in unknown.text
        assert not list(folder.iterdir())
        assert (await http.get(back)).status_code == 200
    await process.communicate()
    assert process.returncode == 0


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["loop.example.com"], "no http(s) URL"),
        (["https://x.example", "--name", "n" * 35], "1 to 34 characters"),
        (["https://x.example", "--folder", "."], "is not empty"),
    ],
)
def test_input_that_cannot_be_used_is_named_before_anything_is_made(
    arguments: list[str], says: str, tmp_path: Path
) -> None:
    (tmp_path / "mine").touch()
    found = subprocess.run(
        [sys.executable, "-m", "app", "setup", *arguments],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={"PATH": "/usr/bin:/bin", "PYTHONPATH": str(Path(__file__).parents[3])},
    )
    assert found.returncode == 2
    assert found.stderr.startswith("greenloop: ") and says in found.stderr
    assert (tmp_path / "mine").exists()
