"""The GitHub that the suite is held against: the local one, or a real one by a token and a scratch repository.

What a run makes lies below a branch prefix of its own and is taken away by `clean`: branches, comments, labels and runs
are deleted. GitHub lets nobody delete pull requests, check runs and statuses: pull requests and issues are closed.
"""

import contextlib
import os
import time
import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import jwt

from tests.github.contract.exchange import Exchange, Json, Story, filled, flaws, kept
from tests.github.contract.harm import refuse

TOKEN_FILE, REPOSITORY = "GREENLOOP_TEST_GITHUB_TOKEN_FILE", "GREENLOOP_TEST_GITHUB_REPOSITORY"
API_URL = "GREENLOOP_TEST_GITHUB_API_URL"
AGENT = "greenloop-contract"


class Target:
    """A GitHub, one repository of it, and who may ask there."""

    real = False

    def __init__(self, api_url: str, repository: str, tokens: dict[str, str]) -> None:
        self.api_url, self.repository, self.tokens = api_url, repository, tokens
        self.prefix = f"contract-{uuid.uuid4().hex[:10]}/"
        self.http = httpx.Client(base_url=api_url, timeout=60, follow_redirects=False)
        self._made: list[tuple[str, str]] = []
        self.default = str(self._read("")["default_branch"])
        self.default_sha = self.default_head()

    def jwt(self) -> str:
        """What the App says who it is by. Raises LookupError where the App's key is not at hand."""
        raise LookupError("the key of the App")

    def default_head(self) -> str:
        return str(self._read(f"git/ref/heads/{self.default}")["object"]["sha"])

    def known(self, caller: str) -> Json:
        """What the holes of a story begin with."""
        owner, name = self.repository.split("/")
        return {
            "repository": self.repository,
            "owner": owner,
            "name": name,
            "upper": name.upper(),
            "default": self.default,
            "base": self.default_sha,
            "prefix": f"{self.prefix}{caller}-",
            "prefix_quoted": quote(f"{self.prefix}{caller}-", safe=""),
            "missing": "0123456789abcdef0123456789abcdef01234567",
            "api": self.api_url,
        }

    def token(self, who: str, known: Json) -> str | None:
        if who == "nobody":
            return None
        if who == "wrong":
            return "ghp_" + "0" * 36
        if who == "app":
            return self.jwt()
        return self.tokens[who] if who in self.tokens else str(known[who])

    def tell(self, story: Story, caller: str) -> None:
        """Go through a story. Raises AssertionError with every way in which an answer differs."""
        known = self.known(caller)
        for exchange in story.exchanges:
            if self.real and exchange.local:
                continue
            found = self._exchange(exchange, exchange.who or caller, known)
            assert not found, f"{exchange.fact}\n{exchange.method} {exchange.path}\n" + "\n".join(found)

    def _exchange(self, exchange: Exchange, who: str, known: Json) -> list[str]:
        deadline = time.monotonic() + (exchange.settles or (30.0 if self.real and exchange.method == "GET" else 0.0))
        while True:
            answer = self._ask(exchange, who, known)
            body = _json(answer)
            found = flaws(exchange, answer.status_code, answer.headers, body, known)
            if not found:
                known |= kept(exchange, answer.headers, body)
            if not found or time.monotonic() > deadline:
                return found
            time.sleep(2.0 if self.real else 0.05)

    def _ask(self, exchange: Exchange, who: str, known: Json) -> httpx.Response:
        path = str(filled(exchange.path, known))
        if not path.startswith("/"):
            path = f"/repos/{self.repository}/{path}".rstrip("/")
        body = filled(exchange.body, known)
        refuse(exchange.method, path.partition("?")[0], body, self.repository, self.prefix)
        token = self.token(who, known)
        headers = {"User-Agent": AGENT, "Accept": "application/vnd.github+json"}
        headers |= {"Authorization": f"Bearer {token}"} if token else {}
        headers |= {name: str(filled(value, known)) for name, value in exchange.send.items()}
        sent = {"content": body} if isinstance(body, str) else {"json": body}
        request = self.http.build_request(exchange.method, path, headers=headers, **sent)
        if "" in exchange.send.values():  # a header that is to be left out
            for name in [name for name, value in exchange.send.items() if not value]:
                del request.headers[name]
        answer = self.http.send(request)
        self._remember(exchange.method, answer, who)
        if self.real and exchange.method != "GET":
            time.sleep(1.0)  # GitHub asks for a second between writes
        return answer

    def _remember(self, method: str, answer: httpx.Response, who: str) -> None:
        """What was made, by the address that undoes it."""
        body = _json(answer)
        if method != "POST" or answer.status_code != 201 or not isinstance(body, dict):
            return
        if url := body.get("url"):
            self._made.append((str(url), who))

    def clean(self) -> None:
        """Take away, or close, whatever this run made."""
        for url, who in reversed(self._made):
            if who not in self.tokens:
                continue
            kind = url.rstrip("/").split("/")[-2]
            if kind == "pulls" or (kind == "issues" and "/comments/" not in url):
                self._undo("PATCH", url, who, {"state": "closed"})
            elif "/comments/" in url or kind == "labels":
                self._undo("DELETE", url, who)
        for row in self._read(f"git/matching-refs/heads/{self.prefix}"):
            self._undo("DELETE", f"/repos/{self.repository}/git/{row['ref']}", "")

    def _undo(self, method: str, url: str, who: str, body: Json | None = None) -> None:
        with contextlib.suppress(httpx.HTTPError):
            self.http.request(method, url, headers=self._headers(who), json=body)
        if self.real:
            time.sleep(1.0)

    def _headers(self, who: str = "") -> dict[str, str]:
        token = self.tokens.get(who) or next(iter(self.tokens.values()))
        return {"User-Agent": AGENT, "Authorization": f"Bearer {token}"}

    def _read(self, path: str) -> Any:
        answer = self.http.get(f"/repos/{self.repository}/{path}".rstrip("/"), headers=self._headers())
        answer.raise_for_status()
        return answer.json()


def _json(answer: httpx.Response) -> Any:
    """The body, or its text where it is no JSON."""
    try:
        return answer.json()
    except ValueError:
        return answer.text


class RealTarget(Target):
    """GitHub itself, named by the environment: `make test-github` sets it."""

    real = True

    def __init__(self) -> None:
        token = Path(os.environ[TOKEN_FILE]).read_text().strip()
        caller = "installation" if token.startswith("ghs_") else "person"
        super().__init__(os.environ.get(API_URL, "https://api.github.com"), os.environ[REPOSITORY], {caller: token})


def app_jwt(app_id: int, key: str, now: int) -> str:
    """What an App authenticates by for the next minutes."""
    return jwt.encode({"iat": now - 60, "exp": now + 500, "iss": str(app_id)}, key, algorithm="RS256")


def wanted() -> bool:
    """Whether the environment names a real GitHub."""
    return TOKEN_FILE in os.environ


@contextlib.contextmanager
def cleaned(target: Target) -> Iterator[Target]:
    """The target, cleaned at the end; AssertionError if its default branch moved."""
    try:
        yield target
        assert target.default_head() == target.default_sha, f"{target.default} was moved"
    finally:
        target.clean()
        target.http.close()
