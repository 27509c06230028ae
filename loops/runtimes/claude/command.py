"""The command line of Claude Code 2.1 (`claude -p --output-format stream-json`). As observed with the real one."""

from loops.runtimes.base import BoxFile, Invocation, TurnRequest, executable

# IS_SANDBOX: as root it would not start otherwise. Retries: by default ten, and a 401 takes over 150 s. Background
# tasks would mean several results and up to ten minutes of waiting; without egress its side traffic costs 6 to 12 s.
_ENV = {
    "IS_SANDBOX": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
    "CLAUDE_CODE_MAX_RETRIES": "3",
    "CLAUDE_CODE_DISABLE_BACKGROUND_TASKS": "1",
    "DISABLE_AUTOUPDATER": "1",
}
_EDITING_TOOLS = "Edit,Write,NotebookEdit"


def command(turn: TurnRequest) -> Invocation:
    """Raises ValueError when there is neither a key nor a login that Claude Code can use."""
    if turn.credential.kind not in ("api_key", "anthropic_oauth_json"):
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
    if turn.base_url:
        env["ANTHROPIC_BASE_URL"] = turn.base_url
        # Side calls go to a smaller model, which somebody's own endpoint need not have.
        if turn.model:
            env["ANTHROPIC_DEFAULT_HAIKU_MODEL"] = turn.model
    secret = {"ANTHROPIC_API_KEY": turn.credential.secret} if turn.credential.kind == "api_key" else {}
    return Invocation(tuple(argv), {**env, **turn.env}, secret, _login(turn), turn.prompt)


def _login(turn: TurnRequest) -> tuple[BoxFile, ...]:
    """`.credentials.json` for a login: Claude Code refreshes the tokens in it, so it is read back."""
    if turn.credential.kind != "anthropic_oauth_json":
        return ()
    content = turn.credential.secret.encode()
    return (BoxFile(f"{_home(turn)}/.credentials.json", content, read_back=True, secret=True),)


def _home(turn: TurnRequest) -> str:
    return f".greenloop/agents/{turn.session}/claude"
