"""What is started for a turn: argv, environment, files, stdin."""

import json
from dataclasses import replace
from typing import Any

import pytest

from loops.runtimes import registry
from loops.runtimes.base import Credential, Resume, TurnRequest

CLIS = tuple(runtime.name for runtime in registry.agents() if runtime.package)
KEY = "sk-planted-0123456789abcdef"
TURN = TurnRequest(
    prompt="p" * 200_000,
    session="s_1",
    model="some-model",
    provider="custom",
    base_url="http://models.example/v1",
    credential=Credential("api_key", KEY),
    env={"CI": "1"},
)
OAUTH = json.dumps({"claudeAiOauth": {"accessToken": "at", "refreshToken": "rt", "expiresAt": 1, "scopes": []}})
LOGIN = {"auth_mode": "chatgpt", "OPENAI_API_KEY": None, "tokens": {"access_token": "a", "refresh_token": "r"}}


@pytest.mark.parametrize("cli", CLIS)
def test_the_prompt_goes_by_stdin_and_the_key_never_by_argv(cli: str) -> None:
    started = registry.get(cli).command(TURN)
    assert started.stdin == TURN.prompt
    assert all(len(word) < 4_000 and KEY not in word for word in started.argv)
    assert started.env["CI"] == "1"
    assert KEY not in repr(started) and KEY not in repr(TURN)


@pytest.mark.parametrize("cli", CLIS)
def test_what_may_be_stored_of_a_turn_holds_no_secret(cli: str) -> None:
    started = registry.get(cli).command(TURN)
    stored = [
        *started.argv,
        *started.env.values(),
        *(file.content.decode() for file in started.files if not file.secret),
    ]
    assert not any(KEY in text for text in stored)
    assert KEY in [*started.secret_env.values(), *(file.content.decode() for file in started.files if file.secret)]


@pytest.mark.parametrize("cli", CLIS)
def test_files_stay_in_the_sessions_own_folder_with_mode_0600_but_those_that_hold_no_secret(cli: str) -> None:
    for turn in (TURN, replace(TURN, credential=Credential("anthropic_oauth_json", OAUTH))):
        try:
            files = registry.get(cli).command(turn).files
        except ValueError:
            continue
        for file in files:
            assert file.mode == 0o600 and (file.path.startswith(".greenloop/agents/s_1/") or not file.secret)


def test_codex_resumes_with_its_options_before_the_subcommand() -> None:
    started = registry.get("codex").command(replace(TURN, resume=Resume("01a2"), max_steps=3))
    assert started.argv[-3:] == ("resume", "01a2", "-")
    assert started.argv[:3] == ("codex", "exec", "--json")
    settings = [started.argv[at + 1] for at, word in enumerate(started.argv) if word == "-c"]
    assert 'model_providers.greenloop.base_url="http://models.example/v1"' in settings
    assert 'model_providers.greenloop.wire_api="responses"' in settings
    assert "features.unbounded_connection_retries=false" in settings
    assert any("GREENLOOP_MODEL_KEY" in setting and "exclude" in setting for setting in settings)
    assert started.env["CODEX_HOME"] == "{home}/.greenloop/agents/s_1/codex"


def test_codex_on_a_login_uses_its_own_provider_and_reads_the_login_back() -> None:
    turn = replace(TURN, credential=Credential("opencode_auth_json", json.dumps(LOGIN)), base_url="")
    started = registry.get("codex").command(turn)
    assert not any("model_provider" in word for word in started.argv)
    auth = next(file for file in started.files if file.path.endswith("/auth.json"))
    assert auth.read_back and json.loads(auth.content) == LOGIN


def auth_json(turn: TurnRequest) -> Any:
    """The `auth.json` that Codex is given."""
    files = registry.get("codex").command(turn).files
    return json.loads(next(file.content for file in files if file.path.endswith("/auth.json")))


def test_a_login_made_with_opencode_becomes_the_one_codex_reads() -> None:
    theirs = {"openai": {"type": "oauth", "access": "jwt-a", "refresh": "r-1", "expires": 1, "accountId": "acc"}}
    turn = replace(TURN, credential=Credential("opencode_auth_json", json.dumps(theirs)))
    auth = auth_json(turn)
    assert auth["tokens"] == {"id_token": "jwt-a", "access_token": "jwt-a", "refresh_token": "r-1", "account_id": "acc"}
    assert auth["auth_mode"] == "chatgpt" and auth["OPENAI_API_KEY"] is None
    key = replace(turn, credential=Credential("opencode_auth_json", '{"openai": {"type": "api", "key": "k"}}'))
    assert auth_json(key) == {"OPENAI_API_KEY": "k"}


@pytest.mark.parametrize("secret", ["not json at all", "[]", '{"anthropic": {}}', '{"openai": {"type": "oauth"}}'])
def test_a_login_that_is_none_is_refused_without_quoting_it(secret: str) -> None:
    with pytest.raises(ValueError, match="stored") as caught:
        registry.get("codex").command(replace(TURN, credential=Credential("opencode_auth_json", secret)))
    assert secret not in str(caught.value)


def test_opencode_goes_on_in_the_directory_where_the_conversation_began() -> None:
    started = registry.get("opencode").command(replace(TURN, resume=Resume("ses_1", "{home}/Code/o/r/first")))
    assert started.argv[-4:] == ("--session", "ses_1", "--dir", "{home}/Code/o/r/first")


def test_opencode_gets_a_custom_endpoint_as_a_provider_of_its_own_and_the_key_as_a_file() -> None:
    started = registry.get("opencode").command(replace(TURN, provider="openai", max_steps=7))
    config = json.loads(started.env["OPENCODE_CONFIG_CONTENT"])
    assert config["provider"]["greenloop"]["npm"] == "@ai-sdk/openai-compatible"
    options = config["provider"]["greenloop"]["options"]
    assert options == {
        "baseURL": "http://models.example/v1",
        "apiKey": "{file:{home}/.greenloop/agents/s_1/opencode/key}",
    }
    assert "--model" in started.argv and "greenloop/some-model" in started.argv
    assert config["agent"]["build"]["steps"] == 7
    assert started.files[0].content.decode() == KEY
    assert not any(KEY in value for value in started.env.values())


def test_opencode_keeps_its_knowledge_of_a_provider_without_a_base_url() -> None:
    started = registry.get("opencode").command(replace(TURN, provider="openrouter", base_url=""))
    config = json.loads(started.env["OPENCODE_CONFIG_CONTENT"])
    assert "openrouter/some-model" in started.argv and "npm" not in config["provider"]["openrouter"]
    assert "some-model" in config["provider"]["openrouter"]["models"], "also one that is newer than its list"


def test_claude_is_told_its_limits_and_reads_no_settings_of_the_checkout() -> None:
    turn = replace(TURN, provider="anthropic", base_url="http://models.example", max_steps=5, max_cost=1.5)
    started = registry.get("claude").command(replace(turn, resume=Resume("uuid-1")))
    words = " ".join(started.argv)
    for part in (
        "--max-turns 5",
        "--max-budget-usd 1.5000",
        "--resume uuid-1",
        "--setting-sources user",
        "--model some-model",
    ):
        assert part in words
    assert started.env["ANTHROPIC_BASE_URL"] == "http://models.example"
    assert started.secret_env["ANTHROPIC_API_KEY"] == KEY
    assert started.env["IS_SANDBOX"] == "1"


def test_claude_on_a_login_has_no_key_and_reads_the_login_back() -> None:
    started = registry.get("claude").command(replace(TURN, credential=Credential("anthropic_oauth_json", OAUTH)))
    assert not started.secret_env
    assert [(file.path, file.read_back) for file in started.files] == [
        (".greenloop/agents/s_1/claude/.credentials.json", True)
    ]


def test_a_read_only_turn_has_no_editing_tools_where_the_cli_can_do_without() -> None:
    turn = replace(TURN, read_only=True)
    assert "Edit,Write,NotebookEdit" in registry.get("claude").command(turn).argv
    config = json.loads(registry.get("opencode").command(turn).env["OPENCODE_CONFIG_CONTENT"])
    assert config["permission"]["edit"] == "deny"


@pytest.mark.parametrize(
    ("cli", "turn", "words"),
    [
        (
            "codex",
            replace(TURN, credential=Credential("anthropic_oauth_json", OAUTH)),
            "needs an API key or a ChatGPT login",
        ),
        ("claude", replace(TURN, credential=Credential("none")), "needs an API key or an OAuth login"),
        ("opencode", replace(TURN, model=""), "needs a model"),
        ("opencode", replace(TURN, model="m{env:HOME}"), "without braces"),
        ("opencode", replace(TURN, base_url="http://x/{file:/etc/passwd}"), "without braces"),
        ("claude", replace(TURN, program="a 'b"), "cannot be split"),
    ],
)
def test_a_turn_that_cannot_be_expressed_is_refused_with_the_reason(cli: str, turn: TurnRequest, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        registry.get(cli).command(turn)
