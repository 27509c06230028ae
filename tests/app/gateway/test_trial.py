"""An account is tried with one real request through the gateway: what the provider sees, and what people are told."""

import json
import socket
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest
from aiohttp import web
from cryptography.fernet import Fernet

from app.gateway.trial import CannotTry, Tried, try_account
from loops.accounts.limited import limit
from loops.runtimes.failures import FailureKind
from loops.secrets.vault import Vault
from loops.store.database import Database
from loops.store.tables import Profile

KEY = "sk-planted-provider-key-0123456789"


class Provider:
    """Answers everything with `status`, `text` and `headers`; notes what it was asked."""

    def __init__(self) -> None:
        self.answer: tuple[int, str, dict[str, str]] = (200, "", {})
        self.asked: list[tuple[str, dict[str, str], dict[str, Any]]] = []
        self.url = ""

    async def handle(self, request: web.Request) -> web.Response:
        self.asked.append((request.path_qs, dict(request.headers), json.loads(await request.read())))
        status, text, headers = self.answer
        return web.Response(status=status, text=text, headers=headers)


@pytest.fixture
async def provider() -> AsyncIterator[Provider]:
    made = Provider()
    app = web.Application()
    app.router.add_route("*", "/{rest:.*}", made.handle)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    made.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    yield made
    await runner.cleanup()


Trying = Callable[..., Any]


@pytest.fixture
async def trying(sqlite_url: str, provider: Provider) -> AsyncIterator[Trying]:
    """Keeps an account as told, and tries it."""
    database, vault = Database(sqlite_url), Vault([Fernet.generate_key().decode()])

    async def run(secret: str = KEY, *, runtime: str = "", asking: str = "", limited: str = "", **about: Any) -> Tried:
        usual = {"provider": "custom", "credential_kind": "api_key", "model": "m-1", "base_url": provider.url}
        row = Profile(**{"installation_id": 1, **usual, **about}, name="main", created_at=0, updated_at=0)
        row.secret = vault.encrypt(secret)
        if limited:
            limit(row, FailureKind(limited), 9e12)
        async with database.write() as tx:
            tx.add(row)
            await tx.flush()
        told = await try_account(database, vault, row, runtime=runtime, model=asking)
        async with database.read() as tx:
            run.after = await tx.get_one(Profile, row.id)  # type: ignore[attr-defined]
        return told

    yield run
    await database.close()


def events(*told: dict[str, Any]) -> str:
    return "".join(f"data: {json.dumps(each)}\n\n" for each in told)


STREAM = {"content-type": "text/event-stream"}
ANSWERS = {
    "anthropic": events({"type": "message_start", "message": {}}, {"type": "message_stop"}),
    "custom": events({"choices": [{"delta": {"content": "OK"}}]}, {"choices": [{"finish_reason": "stop"}]}),
    "openai": events({"type": "response.completed", "response": {"usage": {}}}),
    "google": events({"candidates": [{"finishReason": "STOP"}]}),
}


@pytest.mark.parametrize(
    ("about", "runtime", "path", "proof"),
    [
        ({"provider": "anthropic"}, "claude", "/v1/messages", ("x-api-key", KEY)),
        ({}, "opencode", "/chat/completions", ("authorization", f"Bearer {KEY}")),
        ({"provider": "openai"}, "codex", "/responses", ("authorization", f"Bearer {KEY}")),
        ({"provider": "google"}, "gemini", "/v1beta/models/m-1:streamGenerateContent?alt=sse", ("x-goog-api-key", KEY)),
    ],
    ids=["messages", "chat", "responses", "generate_content"],
)
async def test_the_model_is_asked_as_its_agent_does_with_the_accounts_own_key(
    trying: Trying, provider: Provider, about: dict[str, Any], runtime: str, path: str, proof: tuple[str, str]
) -> None:
    provider.answer = (200, ANSWERS[about.get("provider", "custom")], STREAM)
    told = await trying(runtime=runtime, **about)
    assert told.failure is None and told.sentence.startswith(f"ok: m-1, asked as {runtime} does, answered in ")
    ((asked, headers, body),) = provider.asked
    told_headers = {name.lower(): value for name, value in headers.items()}
    assert (asked, told_headers[proof[0]]) == (path, proof[1])
    assert body.get("model", "m-1") == "m-1"


REFUSALS: tuple[tuple[int, Any, dict[str, str], str], ...] = (
    (401, {"error": {"message": "Incorrect API key provided", "code": "invalid_api_key"}}, {}, "credentials"),
    (403, {"error": {"message": "You may not use this."}}, {}, "model_access"),
    (404, {"error": {"message": "The model `m-1` does not exist", "code": "model_not_found"}}, {}, "unknown_model"),
    (402, {"error": {"message": "Add credits"}}, {}, "quota"),
    (429, {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}, {}, "quota"),
    (429, {"error": {"message": "slow down"}}, {"retry-after": "7"}, "rate_limit"),
    (503, {"error": {"message": "busy"}}, {}, "overloaded"),
    (404, "<html>not here</html>", {"content-type": "text/html"}, "model_unreachable"),
    (200, "<html>sign in</html>", {"content-type": "text/html"}, "model_unreachable"),
    (302, "", {"location": "https://elsewhere.example"}, "model_unreachable"),
    (200, events({"error": {"message": "slow down", "code": "rate_limit_exceeded"}}), STREAM, "rate_limit"),
    (200, events({"choices": [{"delta": {"content": "O"}}]}), STREAM, "model_unreachable"),
)


@pytest.mark.parametrize(("status", "body", "headers", "kind"), REFUSALS)
async def test_a_refusal_is_told_as_the_end_of_a_turn_would_be(
    trying: Trying, provider: Provider, status: int, body: Any, headers: dict[str, str], kind: str
) -> None:
    provider.answer = (status, body if isinstance(body, str) else json.dumps(body), headers)
    told = await trying()
    assert told.failure is not None and told.failure.kind == kind
    assert told.sentence.startswith(f"{kind}: ") and "A turn that ends like this" in "".join(
        told.details(operator=True)
    )
    assert told.failure.retry_after == (7 if "retry-after" in headers else None)


async def test_nobody_there_is_an_unreachable_model_and_the_key_stands_nowhere(trying: Trying) -> None:
    with socket.create_server(("127.0.0.1", 0)) as closed:
        url = f"http://127.0.0.1:{closed.getsockname()[1]}"
    told = await trying(base_url=url)
    assert told.failure is not None and told.failure.kind == "model_unreachable"
    assert KEY not in told.sentence + "".join(told.details(operator=True))


async def test_a_key_that_the_provider_quotes_is_not_shown(trying: Trying, provider: Provider) -> None:
    provider.answer = (401, json.dumps({"error": {"message": f"Incorrect API key provided: {KEY}"}}), {})
    told = await trying()
    assert told.details(operator=True)[0] == "Incorrect API key provided: [redacted]"


@pytest.mark.parametrize(("why", "lifted"), [("credentials", True), ("quota", True), ("rate_limit", False)])
async def test_an_account_that_answers_again_is_used_again_unless_its_rate_is_limited(
    trying: Trying, provider: Provider, why: str, lifted: bool
) -> None:
    provider.answer = (200, ANSWERS["custom"], STREAM)
    assert (await trying(limited=why)).failure is None
    assert (trying.after.limited_until is None) is lifted  # type: ignore[attr-defined]
    provider.answer = (401, "{}", {})
    assert (await trying(limited=why, installation_id=2)).failure is not None
    assert trying.after.limited_until is not None  # type: ignore[attr-defined]


async def test_an_answer_without_an_end_is_given_up(trying: Trying, provider: Provider) -> None:
    provider.answer = (200, events({"choices": [{"delta": {"content": "x" * 1000}}]}) * 2000, STREAM)
    told = await trying()
    assert told.failure is not None and "more than 1048576 bytes" in told.failure.message


@pytest.mark.parametrize(
    ("given", "asked"),
    [
        ("", "claude-haiku-4-5"),
        ("sonnet", "claude-sonnet-5"),
        ("opus", "claude-opus-4-5"),
        ("claude-x-9[1m]", "claude-x-9"),
    ],
)
async def test_a_model_that_the_agent_would_pick_itself_is_asked_by_its_own_name(
    trying: Trying, provider: Provider, given: str, asked: str
) -> None:
    provider.answer = (200, ANSWERS["anthropic"], STREAM)
    await trying(provider="anthropic", model=given)
    assert [body["model"] for _, _, body in provider.asked] == [asked]


async def test_what_cannot_be_tried_says_what_to_name(trying: Trying) -> None:
    with pytest.raises(CannotTry, match="add --model"):
        await trying(provider="openai", runtime="codex", model="")
    with pytest.raises(CannotTry, match='cannot run the "claude" runtime'):
        await trying(runtime="claude", installation_id=2)
