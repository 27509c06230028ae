"""Where a GitHub lives: github.com, GitHub Enterprise Server (`https://HOST/api/v3`), GHE.com, or the local GitHub."""

from dataclasses import dataclass
from urllib.parse import urlsplit


@dataclass(frozen=True, slots=True)
class Addresses:
    """Base URLs without a slash at the end: REST, GraphQL, and the web host that also serves Git."""

    api: str
    graphql: str
    web: str

    @classmethod
    def of(cls, api_url: str, web_url: str | None = None) -> "Addresses":
        """All of them from the REST base URL. Raises ValueError if it is no http(s) URL."""
        api = api_url.rstrip("/")
        parts = urlsplit(api)
        if parts.scheme not in ("http", "https") or not parts.netloc:
            raise ValueError(f"{api_url!r} is no API URL: use https://api.github.com or https://HOST/api/v3")
        host = f"{parts.scheme}://{parts.netloc}"
        graphql = f"{host}{parts.path.removesuffix('/v3')}/graphql"
        web = host
        if parts.netloc.startswith("api."):
            web = f"{parts.scheme}://{parts.netloc.removeprefix('api.')}"
        return cls(api, graphql, (web_url or web).rstrip("/"))

    def git(self, full_name: str) -> str:
        """The HTTPS address to clone `owner/name` from, without any credential in it."""
        return f"{self.web}/{full_name}.git"
