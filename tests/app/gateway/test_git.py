"""A box's git through the gateway: what it reads is what GitHub has, and no token of GitHub's is on its side."""

import gzip
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.app.gateway.repository import OTHERS, REPOSITORY, Checkout, checkout


@pytest.fixture
async def box(tmp_path: Path, redis_url: str) -> AsyncIterator[Checkout]:
    async with checkout(tmp_path, redis_url, submodules=["acme/l*"]) as found:
        yield found


@pytest.mark.parametrize("version", ["0", "2"])
@pytest.mark.parametrize("how", [[], ["--depth=1"], ["--filter=blob:none"]], ids=["whole", "shallow", "partial"])
async def test_a_clone_is_what_github_has(box: Checkout, version: str, how: list[str]) -> None:
    cloned = await box.git("-c", f"protocol.version={version}", "clone", "-q", *how, box.url(), "copy")
    assert cloned.returncode == 0, cloned.stderr
    source = box.folder / "source"
    for name in ("value.txt", "data.bin"):
        assert (box.folder / "copy" / name).read_bytes() == (source / name).read_bytes()
    kept = "".join(path.read_text("latin-1") for path in (box.folder / "copy" / ".git").rglob("config"))
    assert "ghs_" not in kept and box.token not in kept


@pytest.mark.parametrize("form", ["plain", "packed", "in pieces"])
async def test_what_git_asks_passes_plain_packed_and_in_pieces(box: Checkout, form: str) -> None:
    listed = await box.git("ls-remote", box.url(), "HEAD")
    asked = f"0032want {listed.stdout[:40]}\n00000009done\n".encode()

    async def pieces() -> AsyncIterator[bytes]:
        yield asked[:4]
        yield asked[4:]

    bodies: dict[str, Any] = {"plain": asked, "packed": gzip.compress(asked), "in pieces": pieces()}
    headers = {"content-type": "application/x-git-upload-pack-request"}
    headers |= {"content-encoding": "gzip"} if form == "packed" else {}
    async with box.http() as http:
        answer = await http.post(f"{box.url()}/git-upload-pack", content=bodies[form], headers=headers)
    assert (answer.status_code, answer.content[:8], b"PACK" in answer.content) == (200, b"0008NAK\n", True)


async def test_a_push_is_refused_in_words(box: Checkout) -> None:
    assert (await box.git("clone", "-q", box.url(), "copy")).returncode == 0
    pushed = await box.git("-C", "copy", "push", "origin", "HEAD:refs/heads/mine")
    assert pushed.returncode == 128
    assert "remote: Greenloop's boxes read repositories and push nothing" in pushed.stderr


async def test_a_repository_that_was_renamed_is_found_and_its_box_sees_no_redirect(box: Checkout) -> None:
    assert (await box.git("ls-remote", box.url())).returncode == 0
    headers = {"authorization": f"token {box.local.user('acme').token}", "user-agent": "test"}
    async with httpx.AsyncClient(base_url=box.local.api_url, headers=headers) as api:
        renamed = await api.patch(f"/repos/{REPOSITORY}", json={"name": "gadgets"})
        assert renamed.status_code == 200, renamed.text
    listed = await box.git("ls-remote", box.url())
    assert listed.returncode == 0 and "refs/heads/" in listed.stdout, listed.stderr
    assert "redirect" not in listed.stderr


async def test_a_repository_of_the_allow_list_is_read_and_no_other(box: Checkout) -> None:
    vault, lib = OTHERS
    assert (await box.git("ls-remote", box.url(lib))).returncode == 0
    refused = await box.git("ls-remote", box.url(vault))
    assert refused.returncode == 128
    assert "This turn reads acme/widgets, and not acme/vault." in refused.stderr
