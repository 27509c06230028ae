"""Images in a description: which are GitHub's own, and what of them is fetched."""

import asyncio

import pytest

from github.client.addresses import Addresses
from github.client.errors import NotFound
from github.client.repository import RepositoryHandle
from github.threads.images import addresses_of, content_of, served
from tests.github.conftest import Spot

PNG = b"\x89PNG\r\n\x1a\nscreenshot"
UPLOAD = "6a1f3c1e-2b60-4b07-9a6c-0123456789ab"
DOTCOM = Addresses.of("https://api.github.com")
SERVER = Addresses.of("https://git.example.com/api/v3")


async def test_an_upload_in_an_issue_is_fetched_at_githubs_address_for_a_minute(
    spot: Spot, repository: RepositoryHandle
) -> None:
    upload, html = spot.local.upload(PNG), spot.local.upload(PNG + b"2")
    text = f'Broken:\n\n![shot]({upload})\n<img width="9" src="{html}">\n![else](http://127.0.0.1:1/x.png)'
    number = await spot.issue(body=text)
    found = await addresses_of(repository, number, text, 5)
    assert [await content_of(repository, each, 100) for each in found[:2]] == [PNG, PNG + b"2"]
    assert len(found) == 3 and "127.0.0.1:1/" not in found[2], "the third is GitHub's own proxy"
    assert await content_of(repository, found[0], len(PNG) - 1) == b"", "a larger one is left out"
    assert len(await addresses_of(repository, number, text, 1)) == 1
    with pytest.raises(NotFound):
        await content_of(repository, found[2], 100)


async def test_no_redirect_is_followed(repository: RepositoryHandle) -> None:
    asked: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        asked.append((await reader.readline()).decode())
        writer.write(b"HTTP/1.1 302 Found\r\nLocation: /inner\r\nContent-Length: 3\r\nConnection: close\r\n\r\nGIF")
        await writer.drain()
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1") as server:
        port = server.sockets[0].getsockname()[1]
        assert await content_of(repository, f"http://127.0.0.1:{port}/x.png", 100) == b""
    assert asked == ["GET /x.png HTTP/1.1\r\n"]


async def test_what_was_put_in_after_the_request_is_not_shown(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue(body=f"![later]({spot.local.upload(PNG)})")
    assert await addresses_of(repository, number, "It was like this when it was asked.", 5) == []


@pytest.mark.parametrize(
    ("addresses", "source", "taken"),
    [
        (DOTCOM, f"https://private-user-images.githubusercontent.com/1/2-{UPLOAD}.png?jwt=x", True),
        (DOTCOM, f"https://user-images.githubusercontent.com/1/{UPLOAD}.png", True),
        (DOTCOM, f"https://camo.githubusercontent.com/ab/{UPLOAD}", True),
        (DOTCOM, f"http://user-images.githubusercontent.com/{UPLOAD}", False),
        (DOTCOM, f"https://user-images.githubusercontent.com:8443/{UPLOAD}", False),
        (DOTCOM, f"https://user-images.githubusercontent.com@169.254.169.254/{UPLOAD}", False),
        (DOTCOM, f"https://user-images.githubusercontent.com.example.com/{UPLOAD}", False),
        (DOTCOM, f"https://169.254.169.254/{UPLOAD}", False),
        (DOTCOM, f"https://github.com/{UPLOAD}", False),
        (DOTCOM, f"//camo.githubusercontent.com/{UPLOAD}", False),
        (DOTCOM, f"file:///{UPLOAD}", False),
        (DOTCOM, f"https://[::1/{UPLOAD}", False),
        (DOTCOM, f"data:image/png;base64,{UPLOAD}", False),
        (SERVER, f"https://git.example.com/user-attachments/assets/{UPLOAD}", True),
        (SERVER, f"https://media.git.example.com/user/1/files/{UPLOAD}", True),
        (SERVER, f"https://git.example.com:8443/{UPLOAD}", False),
        (SERVER, f"https://camo.githubusercontent.com/{UPLOAD}", False),
        (SERVER, f"https://internal.example.com/{UPLOAD}", False),
    ],
)
def test_only_what_github_itself_serves_is_fetched(addresses: Addresses, source: str, taken: bool) -> None:
    page = f'<p><img alt="x" src="{source}"></p>'
    assert served(page, f"see {UPLOAD}", addresses) == ([source] if taken else [])


def test_an_image_of_elsewhere_is_known_by_its_own_address() -> None:
    page = '<img src="https://camo.githubusercontent.com/a/b" data-canonical-src="https://example.com/x.png">'
    assert served(page, "![](https://example.com/x.png)", DOTCOM) == ["https://camo.githubusercontent.com/a/b"]
    assert served(page, "![](https://example.com/y.png)", DOTCOM) == []
    assert served(page * 3 + "<img src><img><IMG SRC=''>", "https://example.com/x.png", DOTCOM) != []
