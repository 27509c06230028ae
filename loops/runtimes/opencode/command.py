"""The command line of OpenCode 1.18 (`opencode run --format json`). As observed with the real one."""

import json
import re

from loops.runtimes.base import JSON, BoxFile, Invocation, TurnRequest, executable

# Providers whose own protocol OpenCode speaks; behind a base URL of one's own everything else is chat completions.
_OWN_PROTOCOL = {"anthropic": "@ai-sdk/anthropic"}
_COMPATIBLE = "@ai-sdk/openai-compatible"
# What the base URLs of these end with, where those of a gateway do not.
_VERSIONS = {"anthropic": "/v1", "google": "/v1beta"}
_CUSTOM_LIMITS = {"context": 200_000, "output": 32_000}
# Without the first, a box without egress waits 8 s for a list of models. The checkout may come from a stranger: its
# configuration could send the key elsewhere, and its skills and CLAUDE.md are no orders of ours.
_ENV = dict.fromkeys(
    (
        "OPENCODE_DISABLE_MODELS_FETCH",
        "OPENCODE_DISABLE_AUTOUPDATE",
        "OPENCODE_DISABLE_LSP_DOWNLOAD",
        "OPENCODE_DISABLE_SHARE",
        "OPENCODE_DISABLE_DEFAULT_PLUGINS",
        "OPENCODE_DISABLE_PROJECT_CONFIG",
        "OPENCODE_DISABLE_EXTERNAL_SKILLS",
        "OPENCODE_DISABLE_CLAUDE_CODE",
    ),
    "1",
)
# With a file that it reads, OpenCode hands the model the AGENTS.md beside it, as instructions, and no setting stops it.
# Nothing of the file itself can look like the end of it: its lines are numbered.
_PLUGIN = b"""\
const end = "\\n</content>"
export const OnlyTheFile = async () => ({
  "tool.execute.after": async ({ tool }, result) => {
    if (tool === "read" && result.metadata?.loaded?.length)
      result.output = result.output.split(`${end}\\n\\n<system-reminder>\\n`, 1)[0] + end
  },
})
"""
# At each start it installs a package for plug-ins into its configuration folder, and waits for it: over a minute where
# there is no way out. What a lock file says is there it takes for installed, and our plug-in needs nothing.
_CONFIG_FOLDER = ".config/opencode"
_INSTALLED = json.dumps({"packages": {"": {"dependencies": {"@opencode-ai/plugin": "*"}}}}).encode()
_NO_INSTALL = (
    BoxFile(f"{_CONFIG_FOLDER}/node_modules/.keep", b""),
    BoxFile(f"{_CONFIG_FOLDER}/package-lock.json", _INSTALLED),
)
_REFERENCE = re.compile(r"\{(?:env|file):")


def command(turn: TurnRequest) -> Invocation:
    """Raises ValueError without a model (OpenCode would pick one of its own) or where a name holds a reference."""
    if not turn.model:
        raise ValueError('The "opencode" runtime needs a model: set it on the profile or in the request.')
    odd = next((text for text in (turn.model, turn.provider, turn.base_url) if _REFERENCE.search(text)), None)
    if odd is not None:
        raise ValueError(f'The "opencode" runtime would read a file or variable for {odd!r}: write it without braces.')
    provider = _provider_id(turn)
    argv = [*executable(turn, "opencode"), "run", "--format", "json", "--auto"]
    argv += ["--model", f"{provider}/{turn.model}", "--title", f"greenloop {turn.session}"]
    if turn.resume:
        # From another directory than the conversation's first, OpenCode hangs.
        argv += ["--session", turn.resume.id, "--dir", turn.resume.cwd]
    env = {
        **_ENV,
        "OPENCODE_CONFIG_CONTENT": json.dumps(_config(turn, provider)),
        # One for each session: a conversation that breaks takes no other with it.
        "OPENCODE_DB": f"{{home}}/{_home(turn)}/conversations.db",
    }
    plugin = BoxFile(f"{_home(turn)}/plugin.js", _PLUGIN)
    files = (*_key(turn), plugin, *_NO_INSTALL)
    kept = tuple(f"{_home(turn)}/conversations.db{end}" for end in ("", "-wal", "-shm"))
    return Invocation(tuple(argv), {**env, **turn.env}, files=files, stdin=turn.prompt, conversation=kept)


def _key(turn: TurnRequest) -> tuple[BoxFile, ...]:
    """The API key, as a file: in the environment every shell that a tool opens would have it."""
    if turn.credential.kind != "api_key":
        return ()
    return (BoxFile(f"{_home(turn)}/key", turn.credential.secret.encode(), secret=True),)


def _provider_id(turn: TurnRequest) -> str:
    # A provider's own name keeps OpenCode's knowledge of it; a custom endpoint must not be taken for the original.
    if turn.base_url and turn.relay != "provider" and turn.provider not in _OWN_PROTOCOL:
        return "greenloop"
    return turn.provider or "greenloop"


def _home(turn: TurnRequest) -> str:
    return f".greenloop/agents/{turn.session}/opencode"


def _config(turn: TurnRequest, provider: str) -> JSON:
    options: JSON = {}
    if turn.base_url:
        version = _VERSIONS.get(provider, "") if turn.relay else ""
        options["baseURL"] = f"{turn.base_url}{version}"
    if turn.credential.kind == "api_key":
        options["apiKey"] = f"{{file:{{home}}/{_home(turn)}/key}}"
    # A model of one's own, or one that is newer than OpenCode's list.
    entry: JSON = {"options": options, "models": {turn.model: {"name": turn.model}}}
    if provider == "greenloop":
        entry |= {"npm": _COMPATIBLE, "name": turn.provider or "custom"}
        entry["models"][turn.model]["limit"] = _CUSTOM_LIMITS
    elif provider in _OWN_PROTOCOL and turn.base_url:
        entry["npm"] = _OWN_PROTOCOL[provider]
    model = f"{provider}/{turn.model}"
    config: JSON = {
        "$schema": "https://opencode.ai/config.json",
        "provider": {provider: entry},
        "enabled_providers": [provider],
        "model": model,
        "small_model": model,
        "plugin": [f"file://{{home}}/{_home(turn)}/plugin.js"],
        "share": "disabled",
        "autoupdate": False,
        "permission": {"edit": "deny" if turn.read_only else "allow", "bash": "allow", "webfetch": "allow"},
    }
    if turn.max_steps is not None:
        # Soft: the model is told to come to an end. The hard cap counts `step_finish`.
        config["agent"] = {"build": {"steps": turn.max_steps}}
    return config
