"""What a box is handed of secrets, and that nothing of it stays or shows."""

import base64
import json
from collections.abc import Mapping, Sequence
from typing import Any

import httpx
import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select, update

from app.web.state import AppState
from k8s.runner import protocol
from loops.accounts.box_secrets import CannotPrepare, FetchToken, NoCredentials
from loops.accounts.credentials import TurnCredentials
from loops.protocol.tokens import token
from loops.secrets import env_secrets
from loops.secrets.vault import Vault
from loops.store.tables import Installation, Profile, Repository, Turn
from tests.app.boxside import RESULT, SPEC, TOKEN, ask, journal, row, said, seed, send, token_of_turn


@pytest.fixture(autouse=True)
def short_polls(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(protocol, "POLL_SECONDS", 0.3)


class Planted(NoCredentials):
    """Credentials of a profile, as the vault would give them."""

    def __init__(self) -> None:
        self.kept: dict[str, bytes] = {}
        self.broken = False

    async def materialise(self, turn: Turn) -> tuple[dict[str, str], list[dict[str, Any]]]:
        if self.broken:
            raise CannotPrepare("The profile “work” is gone. Choose another.")
        return {"API_KEY": "planted-secret-value"}, [{"path": ".auth.json", "mode": 384, "content": "cGxhbnRlZA=="}]

    async def secrets(self, turn: Turn) -> list[str]:
        return ["planted-secret-value"]

    async def read_back(self, turn: Turn, files: Mapping[str, bytes]) -> Sequence[str]:
        self.kept |= files
        return [content.decode() for content in files.values()]


@pytest.fixture
def planted(shared: AppState) -> Planted:
    made = Planted()
    object.__setattr__(shared, "credentials", made)
    return made


async def test_secrets_are_told_to_the_box_and_stored_nowhere(
    box: httpx.AsyncClient, shared: AppState, planted: Planted
) -> None:
    await seed(shared)
    told = (await box.post("/boxes/ann/next", json=ask())).json()
    assert told["env"] == {"PLAIN": "1", "API_KEY": "planted-secret-value"}
    assert [file["path"] for file in told["files"]] == [".auth.json"]
    line = b"key: planted-secret-value, b64 " + base64.b64encode(b"planted-secret-value") + b"\n"
    for start in range(0, len(line), 7):
        offset = (await row(shared)).output_offset
        await send(box, offset, line[: start + 7], end=start + 7 >= len(line))
    refreshed = base64.b64encode(b'{"refresh_token": "a-new-secret-of-the-cli"}').decode()
    report = RESULT | {
        "files": [{"path": ".auth.json", "content": refreshed}],
        "stderr_tail": "planted-secret-value a-new-secret-of-the-cli",
        "diff": "+planted-secret-value\n",
        "message": "planted-secret-value",
        "reason": "fetch_failed",
    }
    assert (await box.put("/turns/t_1/result", json=report)).status_code == 204
    assert planted.kept == {".auth.json": b'{"refresh_token": "a-new-secret-of-the-cli"}'}
    turn = await row(shared)
    everything = json.dumps(
        [turn.spec, turn.result, turn.parser_state, turn.message, *(event.payload for event in await journal(shared))]
    )
    for secret in (b"planted-secret-value", b"a-new-secret-of-the-cli"):
        assert secret.decode() not in everything
        assert base64.b64encode(secret).decode() not in everything
    assert (await said(shared)).count("[redacted]") == 2


async def test_a_turn_whose_secrets_cannot_be_had_ends_with_the_reason(
    box: httpx.AsyncClient, shared: AppState, planted: Planted
) -> None:
    planted.broken = True
    await seed(shared)
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204
    turn = await row(shared)
    assert turn.status == "reported"
    assert turn.result is not None and turn.result["reason"] == "credentials"
    assert turn.result["message"] == "The profile “work” is gone. Choose another."


FORMER: dict[str, Any] = {"status": "running", "token_hash": None, "handed_at": 1.0}


class Tokens:
    def __init__(self) -> None:
        self.calls: list[tuple[Any, ...]] = []

    async def mint(self, installation_id: int, repository_id: int) -> FetchToken:
        self.calls.append(("mint", installation_id, repository_id))
        return FetchToken("https://github.test/o/r.git", f"ghs_token-number-{len(self.calls)}")

    async def revoke(self, token: str) -> None:
        self.calls.append(("revoke", token))


async def test_a_turn_of_the_former_release_gets_a_fetch_token_for_its_repository_which_is_revoked(
    box: httpx.AsyncClient, shared: AppState
) -> None:
    await seed(shared, **FORMER)
    box.headers["authorization"] = f"Bearer {TOKEN}"
    assert (await box.post("/turns/t_1/token")).status_code == 503
    tokens = Tokens()
    object.__setattr__(shared, "fetch_tokens", tokens)
    minted = (await box.post("/turns/t_1/token")).json()
    assert minted == {"url": "https://github.test/o/r.git", "token": "ghs_token-number-1", "username": "x-access-token"}
    assert (await box.request("DELETE", "/turns/t_1/token", json={"token": "ghs_token-number-1"})).status_code == 204
    assert tokens.calls == [("mint", 5, 7), ("revoke", "ghs_token-number-1")]


KEY, REFRESHED = "sk-planted-provider-key", "planted-refreshed-token"


@pytest.fixture
async def vault(shared: AppState) -> Vault:
    """A real vault, with an account of Codex' login and a secret for the tests of `o/r`."""
    made = Vault([Fernet.generate_key().decode()])
    object.__setattr__(shared, "credentials", TurnCredentials(shared.database, made))
    tokens = Tokens()
    object.__setattr__(shared, "fetch_tokens", tokens)
    async with shared.database.write() as tx:
        known = {"updated_at": 0.0}
        tx.add(Installation(id=5, account_id=1, account_login="o", account_type="User", **known))
        tx.add(Repository(id=7, installation_id=5, full_name="o/r", default_branch="main", private=True, **known))
        tx.add(
            Profile(
                id=1, installation_id=5, name="main", provider="openai", credential_kind="opencode_auth_json",
                secret=made.encrypt(login("2026-11-29T10:00:00Z", KEY)), created_at=0, **known,
            )
        )  # fmt: skip
    return made


def login(refreshed: str, token: str) -> str:
    return json.dumps({"tokens": {"refresh_token": token, "account_id": "a1"}, "last_refresh": refreshed})


async def with_account(shared: AppState, **more: Any) -> None:
    request = {"prompt": "fix it", "session": "s_1", "model": "m", "provider": "openai", "base_url": ""}
    env_file = {"path": "tests/.env", "names": ["DATABASE_URL", "MISSING"]}
    spec = {**SPEC, "request": {**request, "resume": None}, "env_file": env_file}
    await seed(shared, **more)
    async with shared.database.write() as tx:
        await tx.execute(update(Turn).values(runtime="codex", profile_id=1, spec=spec))


async def stored_login(shared: AppState, vault: Vault) -> str:
    async with shared.database.read() as tx:
        found: str = json.loads(vault.decrypt((await tx.execute(select(Profile.secret))).scalar_one()))["tokens"][
            "refresh_token"
        ]
        return found


def back(content: str) -> dict[str, Any]:
    path = ".greenloop/agents/s_1/codex/auth.json"
    return RESULT | {"files": [{"path": path, "content": base64.b64encode(content.encode()).decode()}]}


async def test_an_env_file_holds_what_is_stored_at_the_hand_out_and_is_redacted_ever_after(
    box: httpx.AsyncClient, shared: AppState, vault: Vault
) -> None:
    await with_account(shared)
    value = "postgres://u:p\"$w'@db/x"
    await env_secrets.put(shared.database, vault, "o/r", "DATABASE_URL", value, 1.0)
    told = (await box.post("/boxes/ann/next", json=ask())).json()
    assert "env_file" not in told and "request" not in told
    file = next(each for each in told["files"] if each["path"].endswith(".env"))
    assert (file["path"], file["mode"], file["read_back"]) == ("Code/o/r/greenloop/1/tests/.env", 0o600, False)
    assert base64.b64decode(file["content"]).decode() == 'DATABASE_URL="postgres://u:p\\"\\$w\'@db/x"\n'
    # the value that was handed out is looked for, whatever the stored one has become
    await env_secrets.put(shared.database, vault, "O/R", "DATABASE_URL", "another value", 2.0)
    held = [token_of_turn(shared), token(shared.box_key, "ann", 1)]
    shown = f"{value} {KEY} {' '.join(held)} ".encode() + base64.b64decode(file["content"])
    line = json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": shown.decode()}}).encode()
    await send(box, 0, line + b"\n", end=True)
    everything = json.dumps([event.payload for event in await journal(shared)]) + str((await row(shared)).parser_state)
    assert "redacted" in everything
    assert not any(secret in everything for secret in ("postgres", KEY, *held, "db/x"))
    assert (await row(shared)).given is not None


async def test_of_two_turns_with_one_login_the_later_refresh_stays(
    box: httpx.AsyncClient, shared: AppState, vault: Vault
) -> None:
    await with_account(shared)
    await box.post("/boxes/ann/next", json=ask())
    async with shared.database.write() as tx:
        newer = vault.encrypt(login("2026-11-29T12:00:00Z", "the-other-turns-token"))
        await tx.execute(update(Profile).values(secret=newer))
    older = back(login("2026-11-29T11:00:00.123456789Z", REFRESHED))
    assert (await box.put("/turns/t_1/result", json=older)).status_code == 204
    assert await stored_login(shared, vault) == "the-other-turns-token"


async def test_a_login_that_its_cli_refreshed_is_what_the_next_turn_gets(
    box: httpx.AsyncClient, shared: AppState, vault: Vault
) -> None:
    await with_account(shared)
    await box.post("/boxes/ann/next", json=ask())
    newer = back(login("2026-11-29T11:00:00Z", REFRESHED)) | {"stderr_tail": f"stored {REFRESHED}"}
    assert (await box.put("/turns/t_1/result", json=newer)).status_code == 204
    assert await stored_login(shared, vault) == REFRESHED
    assert REFRESHED not in json.dumps((await row(shared)).result)


async def test_a_turn_goes_on_when_its_account_is_removed_meanwhile(
    box: httpx.AsyncClient, shared: AppState, vault: Vault
) -> None:
    await with_account(shared)
    await box.post("/boxes/ann/next", json=ask())
    async with shared.database.write() as tx:
        await tx.delete(await tx.get_one(Profile, 1))
    line = json.dumps({"type": "error", "message": f"key {KEY}"}).encode() + b"\n"
    assert (await send(box, 0, line, end=True)).json()["offset"] == len(line)
    assert (await box.put("/turns/t_1/result", json=back(login("2026-11-29T11:00:00Z", REFRESHED)))).status_code == 204
    assert KEY not in json.dumps([event.payload for event in await journal(shared)])


async def test_no_token_is_minted_once_the_agent_has_started(
    box: httpx.AsyncClient, shared: AppState, vault: Vault
) -> None:
    await with_account(shared, status="running")
    fetching = {"offset": 0, "data": "", "state": "fetching"}
    await box.post("/turns/t_1/output", json=fetching)
    assert (await box.post("/turns/t_1/token")).status_code == 200
    await box.post("/turns/t_1/output", json=fetching | {"state": "running"})
    assert (await box.post("/turns/t_1/token")).status_code == 409
    # nor is the turn handed out again, which would begin it anew
    assert (await box.post("/boxes/ann/next", json=ask())).status_code == 204


async def test_what_a_killed_runner_had_to_fetch_with_is_revoked(
    box: httpx.AsyncClient, shared: AppState, vault: Vault
) -> None:
    await with_account(shared, **FORMER)
    box.headers["authorization"] = f"Bearer {TOKEN}"
    tokens = shared.fetch_tokens
    assert isinstance(tokens, Tokens)
    await box.post("/turns/t_1/token")
    await box.post("/turns/t_1/token")
    assert tokens.calls == [("mint", 5, 7), ("revoke", "ghs_token-number-1"), ("mint", 5, 7)]
    await send(box, 0, b"the agent prints eC1hY2Nlc3MtdG9rZW46Z2hzX3Rva2VuLW51bWJlci0z\n", end=True)
    assert tokens.calls[3:] == [("revoke", "ghs_token-number-3")]
    assert "redacted" in json.dumps([event.payload for event in await journal(shared)])
    await box.put("/turns/t_1/result", json=RESULT)
    assert len(tokens.calls) == 4
