"""The command line of Claude Code 2.1 (`claude -p --output-format stream-json`). As observed with the real one."""

from loops.runtimes.base import BoxFile, Invocation, TurnRequest, executable
from loops.runtimes.claude.models import is_alias

# IS_SANDBOX: as root it would not start otherwise. Retries: by default ten, and a 401 takes over 150 s. Background
# tasks would mean several results and up to ten minutes of waiting; without egress its side traffic costs 6 to 12 s.
# Its check list is there for some models only unless it is asked for.
_ENV = {
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "3",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "CLAUDE_CODE_ENABLE_TODO_TOOLS": "1",
    "DISABLE_AUTOUPDATER": "1",
}
_KEYS = {"api_key": "ANTHROPIC_API_KEY", "anthropic_oauth_token": "CLAUDE_CODE_OAUTH_TOKEN"}
"""Claude Code asks with the betas and caches of a login only where it has the second, and hides that from its tools."""
_CLOUDS = ("amazon-bedrock", "google-vertex-anthropic")
"""They refuse betas that they do not have yet. In its own modes for them Claude Code asks a dozen models whether they
are there, and speaks to the cloud itself: here the gateway carries what it asks."""
_FAMILIES = ("HAIKU", "SONNET", "OPUS")
_EDITING_TOOLS = "Edit,Write,NotebookEdit"


def command(turn: TurnRequest) -> Invocation:
    """Raises ValueError when there is neither a key nor a login that Claude Code can use."""
    if turn.credential.kind not in (*_KEYS, "anthropic_oauth_json"):
        raise ValueError(f'The "claude" runtime needs an API key or an OAuth login, not {turn.credential.kind!r}.')
    argv = [*executable(turn, "claude"), "-p", "--output-format", "stream-json", "--verbose"]
    # The checkout may come from a stranger: its .claude settings, hooks and CLAUDE.md are not read.
    argv += ["--include-partial-messages", "--dangerously-skip-permissions", "--setting-sources", "user"]
    if turn.model:
        argv += ["--model", turn.model]
    if turn.max_steps is not None:
        argv += ["--max-turns", str(turn.max_steps)]
    if turn.max_cost is not None:
        argv += ["--max-budget-usd", f"{turn.max_cost:.4f}"]
    if turn.read_only:
        argv += ["--disallowed-tools", _EDITING_TOOLS]
    if turn.resume:
        argv += ["--resume", turn.resume.id]
    env = {**_ENV, "CLAUDE_CONFIG_DIR": f"{{home}}/{_home(turn)}"}
    if turn.provider in _CLOUDS:
        env["CLAUDE_CODE_DISABLE_EXPERIMENTAL_BETAS"] = "1"
    if turn.base_url:
        env["ANTHROPIC_BASE_URL"] = turn.base_url
        # Side calls and sub-agents that want another family's model get the one that the account names.
        if turn.model and not is_alias(turn.model):
            env |= {f"ANTHROPIC_DEFAULT_{family}_MODEL": turn.model for family in _FAMILIES}
    key = _KEYS.get(turn.credential.kind)
    secret = {key: turn.credential.secret} if key else {}
    return Invocation(tuple(argv), {**env, **turn.env}, secret, _login(turn), turn.prompt, _transcripts(turn))


def _transcripts(turn: TurnRequest) -> tuple[str, ...]:
    # Beside them, in `memory`, would be what Claude Code told itself to obey.
    return (f"{_home(turn)}/projects/*/*.jsonl",)


def _login(turn: TurnRequest) -> tuple[BoxFile, ...]:
    """`.credentials.json` for a login: Claude Code refreshes the tokens in it, so it is read back."""
    if turn.credential.kind != "anthropic_oauth_json":
        return ()
    content = turn.credential.secret.encode()
    return (BoxFile(f"{_home(turn)}/.credentials.json", content, read_back=True, secret=True),)


def _home(turn: TurnRequest) -> str:
    return f".greenloop/agents/{turn.session}/claude"
