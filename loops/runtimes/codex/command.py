"""The command line of Codex CLI 0.171 (`codex exec --json`). Its behaviour is as observed with the real program."""

import json

from loops.runtimes.base import BoxFile, Invocation, TurnRequest, executable
from loops.runtimes.codex.auth_file import auth_file

KEY = "GREENLOOP_MODEL_KEY"
_DEFAULT_URL = "https://api.openai.com/v1"

# No self-update, telemetry or plug-ins; an unreachable server is not retried for ever; tools get a plain shell (a login
# shell resets PATH) and never the model key; the checkout's AGENTS.md and skills may be a stranger's, ours come by the
# prompt.
_SETTINGS = (
    "check_for_update_on_startup=false",
    "analytics.enabled=false",
    "features.plugins=false",
    "features.unbounded_connection_retries=false",
    "allow_login_shell=false",
    "tools.update_plan.enabled=true",
    "project_doc_max_bytes=0",
    "skills.include_instructions=false",
    f'shell_environment_policy.exclude=["{KEY}","CODEX_API_KEY","OPENAI_API_KEY"]',
)


def command(turn: TurnRequest) -> Invocation:
    """Raises ValueError when there is neither a key nor a login that Codex can use."""
    home = _home(turn)
    argv = [*executable(turn, "codex"), "exec", "--json", "--dangerously-bypass-approvals-and-sandbox"]
    argv += ["--skip-git-repo-check", "-o", f"{{home}}/{home}/last-message.txt", "-C", "{workdir}"]
    if turn.model:
        argv += ["-m", turn.model]
    for setting in (*_SETTINGS, *_provider(turn)):
        argv += ["-c", setting]
    if turn.resume:
        argv += ["resume", turn.resume.id]
    env = {"CODEX_HOME": f"{{home}}/{home}", **turn.env}
    secret = {KEY: turn.credential.secret} if turn.credential.kind == "api_key" else {}
    last = BoxFile(f"{home}/last-message.txt", b"", read_back=True)
    rollouts = (f"{home}/sessions/*/*/*/*.jsonl",)
    return Invocation((*argv, "-"), env, secret, (*_login(turn), last), turn.prompt, rollouts)


def _login(turn: TurnRequest) -> tuple[BoxFile, ...]:
    """`auth.json` for a login: Codex rotates the refresh token in it, so it is read back."""
    if turn.credential.kind != "opencode_auth_json":
        return ()
    content = auth_file(turn.credential.secret)
    return (BoxFile(f"{_home(turn)}/auth.json", content, read_back=True, secret=True),)


def _home(turn: TurnRequest) -> str:
    return f".greenloop/agents/{turn.session}/codex"


def _provider(turn: TurnRequest) -> list[str]:
    if turn.credential.kind == "opencode_auth_json":
        return []
    if turn.credential.kind != "api_key":
        raise ValueError(f'The "codex" runtime needs an API key or a ChatGPT login, not {turn.credential.kind!r}.')
    place = "model_providers.greenloop"
    return [
        'model_provider="greenloop"',
        f'{place}.name="greenloop"',
        f"{place}.base_url={json.dumps(turn.base_url or _DEFAULT_URL)}",
        f'{place}.env_key="{KEY}"',
        f'{place}.wire_api="responses"',
        f"{place}.request_max_retries=4",
        f"{place}.stream_max_retries=5",
    ]
