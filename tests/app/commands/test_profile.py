import asyncio

import pytest
from cryptography.fernet import Fernet
from sqlalchemy import select, update

from github.webhooks.outcomes import Actor
from loops.accounts.accounts import NewAccount, add
from loops.runtimes import registry
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.server import ModelServer
from loops.runtimes.spec import RuntimeSpec
from loops.secrets.vault import Vault, VaultError
from loops.sessions.known_accounts import remember_installation
from loops.store.database import Database
from loops.store.tables import Installation, Profile
from tests.app.command_line import Greenloop

AZURE = ("--provider", "azure", "--base-url", "https://x.example/openai/v1")
BEDROCK = ("--provider", "amazon-bedrock", "--base-url", "https://x.example", "--kind")
VERTEX = ("--provider", "google-vertex", "--kind", "google_service_account")
AWS = '{"AccessKeyId": "AKIDEXAMPLE", "SecretAccessKey": "sk-aws"}'


def secret_of(url: str) -> bytes:
    async def read() -> bytes:
        database = Database(url)
        async with database.read() as tx:
            found = (await tx.execute(select(Profile.secret))).scalar_one()
        await database.close()
        return found

    return asyncio.run(read())


def test_an_account_is_kept_encrypted_shown_without_its_secret_and_forgotten(greenloop: Greenloop) -> None:
    key = Fernet.generate_key().decode()
    added = greenloop(
        "profile", "add", "acme", "main", "--provider", "openai", "--model", "m", stdin="sk-secret\n", keys=key
    )
    assert added.exit_code == 0, added.stderr
    assert "opencode, codex" in added.stdout
    assert b"sk-secret" not in secret_of(greenloop.url)
    listed = greenloop("profile", "list", keys=key)
    assert "main (openai, api_key) for everybody" in listed.stdout
    assert "sk-secret" not in listed.stdout
    assert greenloop("profile", "remove", "1", keys=key).exit_code == 0
    assert greenloop("profile", "remove", "1", keys=key).exit_code == 1


def test_after_a_rotation_the_old_key_can_go(greenloop: Greenloop) -> None:
    old, new = Fernet.generate_key().decode(), Fernet.generate_key().decode()
    greenloop("profile", "add", "acme", "main", "--provider", "openai", "--model", "m", stdin="sk-secret", keys=old)
    rotated = greenloop("rotate-keys", keys=f"{new}\n{old}")
    assert rotated.exit_code == 0, rotated.stderr
    assert Vault([new]).decrypt(secret_of(greenloop.url)) == "sk-secret"
    with pytest.raises(VaultError):
        Vault([old]).decrypt(secret_of(greenloop.url))


def test_an_unknown_installation_is_said(greenloop: Greenloop) -> None:
    key = Fernet.generate_key().decode()
    done = greenloop("profile", "add", "nobody", "main", "--provider", "openai", "--model", "m", stdin="x", keys=key)
    assert (done.exit_code, "no installation on 'nobody' is known" in done.stderr) == (2, True)


@pytest.mark.parametrize(
    ("provider", "kind", "secret", "said"),
    [
        ("x", "opencode_auth_json", "sk-no-json", "no JSON object"),
        ("x", "opencode_auth_json", '{"openrouter": {"type": "api", "key": "sk-x"}}', 'no usable "openai" entry'),
        ("anthropic", "anthropic_oauth_json", '{"accessToken": "sk-x"}', "no login of Claude Code"),
        ("x", "anthropic_oauth_json", '{"claudeAiOauth": {"accessToken": "sk-x"}}', "of the provider anthropic"),
        ("x", "api_key", "sk-x\nsk-y", "a single line of ASCII characters"),
        ("x", "api_key", "sk-pässword", "a single line of ASCII characters"),
        (
            "x",
            "password",
            "sk-x",
            "Known: api_key, opencode_auth_json, anthropic_oauth_json, anthropic_oauth_token, aws_bearer_token, ",
        ),
    ],
)
def test_a_login_that_is_none_is_refused_when_it_is_added(
    greenloop: Greenloop, provider: str, kind: str, secret: str, said: str
) -> None:
    key = Fernet.generate_key().decode()
    words = ("profile", "add", "acme", "main", "--provider", provider, "--kind", kind)
    done = greenloop(*words, stdin=secret, keys=key)
    assert done.exit_code == 2 and said in done.stderr
    assert "sk-" not in done.stderr and "Traceback" not in done.stderr
    assert greenloop("profile", "list", keys=key).stdout == ""


def test_an_endpoint_that_is_none_is_refused(greenloop: Greenloop) -> None:
    key = Fernet.generate_key().decode()
    words = ("profile", "add", "acme", "main", "--provider", "x", "--base-url", "models.example/v1")
    done = greenloop(*words, stdin="sk-x", keys=key)
    assert done.exit_code == 2 and "begins with https://" in done.stderr


@pytest.mark.parametrize(
    ("words", "secret", "said"),
    [
        (
            ("--provider", "antropic"),
            "sk-x",
            'The provider "antropic" is not known. Known: openai, azure, anthropic, amazon-bedrock',
        ),
        (("--provider", "openai"), "sk-x", 'The "opencode" runtime, which such an account gets, needs a model'),
        (("--provider", "openai", "--model", "m"), "sk-ant-api03-x", 'a key of "anthropic", not of "openai"'),
        (("--provider", "anthropic"), "sk-or-v1-x", 'a key of "openrouter", not of "anthropic"'),
        (("--provider", "x", "--kind", "none", "--base-url", "http://x/v1"), "x", "needs a model"),
        (("--provider", "google", "--kind", "none", "--model", "m"), "x", "An account without a key needs an endpoint"),
        (("--provider", "anthropic", "--fallback", "spare"), "sk-x", "no other account called 'spare'"),
        (("--provider", "azure", "--model", "m"), "sk-x", 'Where "azure" answers this account is not known'),
        ((*AZURE,), "sk-x", 'The "codex" runtime, which such an account gets, needs a model'),
        ((*BEDROCK, "aws_access_key", "--model", "m"), "sk-x", "This is no access key of AWS"),
        ((*BEDROCK, "aws_access_key", "--model", "m"), AWS, "'https://x.example' names no region"),
        ((*BEDROCK, "aws_bearer_token"), "sk-x", 'The "claude" runtime, which such an account gets, needs a model'),
        ((*VERTEX, "--model", "m"), "sk-x", "This is no key of a service account of Google's"),
    ],
)
def test_an_account_that_no_turn_could_run_with_is_refused_when_it_is_added(
    greenloop: Greenloop, words: tuple[str, ...], secret: str, said: str
) -> None:
    key = Fernet.generate_key().decode()
    done = greenloop("profile", "add", "acme", "main", *words, stdin=secret, keys=key)
    assert done.exit_code == 2 and said in done.stderr
    assert secret == "x" or secret not in done.stderr
    assert greenloop("profile", "list", keys=key).stdout == ""


def test_an_own_endpoint_takes_any_providers_name_and_any_key(greenloop: Greenloop) -> None:
    key = Fernet.generate_key().decode()
    about = ("--provider", "my-proxy", "--base-url", "http://models.example/v1", "--model", "m")
    assert greenloop("profile", "add", "acme", "main", *about, stdin="sk-ant-x", keys=key).exit_code == 0
    spare = ("profile", "add", "acme", "spare", *about, "--fallback", "main")
    assert greenloop(*spare, stdin="sk-ant-x", keys=key).exit_code == 0
    assert "opencode, else main" in greenloop("profile", "list", keys=key).stdout


async def test_an_account_goes_to_the_installation_that_is_there_now(sqlite_url: str) -> None:
    database, vault = Database(sqlite_url), Vault([Fernet.generate_key().decode()])
    async with database.write() as tx:
        await remember_installation(tx, 3, Actor(9, "Acme"), 1000)
        await remember_installation(tx, 4, Actor(9, "Acme"), 2000)
        await tx.execute(update(Installation).where(Installation.id == 3).values(removed_at=1500.0))
    kept = await add(database, vault, NewAccount("acme", "main", "Anthropic", "api_key", "sk-x"), 3000)
    assert (kept.installation_id, kept.provider, kept.runtimes) == (4, "anthropic", ("claude", "opencode"))
    await database.close()


@pytest.mark.parametrize("agent", registry.agents(), ids=lambda agent: agent.name)
def test_an_account_is_tried_as_each_agent_would_ask(greenloop: Greenloop, agent: RuntimeSpec) -> None:
    key, smoke = Fernet.generate_key().decode(), registry.smoke(agent.name)
    with ModelServer({"x": Script()}) as server:
        about = ("--provider", smoke.provider, "--model", "scripted-1", "--base-url", server.base_url("x", smoke.wire))
        added = greenloop("profile", "add", "acme", "main", *about, stdin="sk-x", keys=key)
        assert added.exit_code == 0, added.stderr
        tried = greenloop("profile", "test", "1", "--runtime", agent.name, keys=key)
        assert (tried.exit_code, tried.stderr) == (0, "")
        assert tried.stdout.startswith(f"ok: scripted-1, asked as {agent.name} does, answered in ")
    tried = greenloop("profile", "test", "1", "--runtime", agent.name, keys=key)
    assert tried.exit_code == 1 and tried.stdout.startswith("model_unreachable: The model could not be reached.")
    assert "is tried again later by itself" in tried.stdout and "sk-x" not in tried.stdout


def test_what_cannot_be_tried_is_said(greenloop: Greenloop) -> None:
    key = Fernet.generate_key().decode()
    assert "there is no account 1" in greenloop("profile", "test", "1", keys=key).stderr
    greenloop("profile", "add", "acme", "main", "--provider", "anthropic", stdin="sk-x", keys=key)
    refused = greenloop("profile", "test", "1", "--runtime", "codex", keys=key)
    assert refused.exit_code == 2 and 'cannot run the "codex" runtime. Supported: claude, opencode.' in refused.stderr
