"""Images in what people wrote, as far as GitHub itself serves them. No other address is ever asked."""

import re
from dataclasses import dataclass
from html.parser import HTMLParser
from urllib.parse import urlsplit

import httpx

from github.client.addresses import Addresses
from github.client.errors import GitHubError
from github.client.repository import RepositoryHandle

HTML = "application/vnd.github.html+json"
_SERVED_BY = tuple(f"{name}.githubusercontent.com" for name in ("private-user-images", "user-images", "camo"))
"""Hosts of github.com: uploads, those of earlier years, and its proxy in front of images elsewhere."""
_UPLOAD = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class Shown:
    """An image in a page of GitHub's: where it is fetched, and where it was before GitHub's proxy was put before it."""

    source: str
    canonical: str = ""


async def addresses_of(repository: RepositoryHandle, number: int, text: str, most: int) -> list[str]:
    """Where the first `most` images of `text` are served for a minute: of the issue or pull request `number`, so far as
    they still stand in its description. Raises GitHubError.
    """
    answer = await repository.request("GET", f"issues/{number}", accept=HTML)
    page = str(answer.json().get("body_html") or "")
    return served(page, text, repository.app.addresses)[:most]


def served(page: str, text: str, addresses: Addresses) -> list[str]:
    """The images of `page`, GitHub's HTML, that `text` names too and that GitHub serves. Pure."""
    reader = _Images()
    reader.feed(page)
    found = (each.source for each in reader.found if _is_githubs(each.source, addresses) and _named(each, text))
    return list(dict.fromkeys(found))


async def content_of(repository: RepositoryHandle, address: str, most: int) -> bytes:
    """The image at an address of `addresses_of`; empty where it is larger than `most` bytes. Raises GitHubError."""
    content = b""
    async with repository.app.transport.stream(address, redirects=False) as response:
        try:
            async for chunk in response.aiter_bytes(64 * 1024):
                content += chunk
                if len(content) > most:
                    return b""
        except httpx.HTTPError as error:
            raise GitHubError(f"the image broke off ({type(error).__name__})") from error
        return content if response.status_code == 200 else b""


def _named(image: Shown, text: str) -> bool:
    """Whether the text names it: by its address, or by its upload's id, which GitHub's address for a minute keeps."""
    upload = _UPLOAD.findall(urlsplit(image.source).path)
    return any(each and each in text for each in (image.source, image.canonical, *upload))


def _is_githubs(source: str, addresses: Addresses) -> bool:
    try:
        asked, web = urlsplit(source), urlsplit(addresses.web)
        asked.port  # noqa: B018
    except ValueError:
        return False
    if asked.username is not None or asked.scheme != web.scheme:
        return False
    if web.netloc == "github.com":
        return asked.netloc in _SERVED_BY
    return asked.netloc in (web.netloc, f"media.{web.netloc}")


class _Images(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.found: list[Shown] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        told = dict(attrs)
        if tag == "img" and told.get("src"):
            self.found.append(Shown(told["src"] or "", told.get("data-canonical-src") or ""))
