"""The command line of Gemini CLI 0.61 (`gemini --output-format stream-json`). As observed with the real program."""

import json

from loops.runtimes.base import JSON, BoxFile, Invocation, TurnRequest, executable

_URL = "https://generativelanguage.googleapis.com"
# NO_RELAUNCH: else a wrapper ignores TERM. Restricted: the checkout may come from a stranger, and nothing in it (MCP
# servers, settings, hooks, an env file) is obeyed. In that mode `--yolo` is ignored, so a policy allows the tools.
_ENV = {"GEMINI_CLI_NO_RELAUNCH": "true", "GEMINI_RESTRICTED_MODE": "true"}
# A tool's output comes whole, as one line of any length, and it exits before that has left its pipe: all that follows
# is lost with it. The variable is not for the programs that its tools start.
_OUTPUT = b"""\
delete process.env.NODE_OPTIONS
process.stdout._handle?.setBlocking?.(true)
const most = 40000
const write = process.stdout.write.bind(process.stdout)
process.stdout.write = (text, ...rest) => {
  if (typeof text === "string" && text.length > 2 * most && text.startsWith('{"type":"tool_result"')) {
    const told = JSON.parse(text)
    const output = String(told.output)
    const left = output.length - most
    told.output = `${output.slice(0, most / 4)}\\n... ${left} characters left out ...\\n${output.slice(-most * 0.75)}`
    text = JSON.stringify(told) + "\\n"
  }
  return write(text, ...rest)
}
"""
_ALLOW = '[[rule]]\ntoolName = "*"\ndecision = "allow"\nallowRedirection = true\npriority = 500\n'
# Nobody can be asked, a sub-agent's tokens are told nowhere, and a plan is only for people who wait for one.
_DENY = '[[rule]]\ntoolName = "{}"\ndecision = "deny"\npriority = 900\n'
_UNUSED = ("ask_user", "enter_plan_mode", "exit_plan_mode")
_EDITING = ("replace", "write_file")


def command(turn: TurnRequest) -> Invocation:
    """Raises ValueError without a model (Gemini CLI would ask a model for one) or an API key."""
    if turn.credential.kind != "api_key":
        raise ValueError(f'The "gemini" runtime needs an API key, not {turn.credential.kind!r}.')
    if not turn.model:
        raise ValueError('The "gemini" runtime needs a model: set it on the profile or in the request.')
    argv = [*executable(turn, "gemini"), "--output-format", "stream-json", "-m", turn.model]
    if turn.resume:
        argv += ["--resume", turn.resume.id]
    home = f".greenloop/agents/{turn.session}/gemini"
    env = {
        **_ENV,
        "GEMINI_CLI_HOME": f"{{home}}/{home}",
        "GOOGLE_GEMINI_BASE_URL": turn.base_url or _URL,
        "NODE_OPTIONS": f'--require "{{home}}/{home}/output.cjs"',
    }
    output = BoxFile(f"{home}/output.cjs", _OUTPUT)
    settings = BoxFile(f"{home}/.gemini/settings.json", json.dumps(_settings(turn)).encode())
    denied = (*_UNUSED, *(_EDITING if turn.read_only else ()))
    policy = BoxFile(
        f"{home}/.gemini/policies/greenloop.toml", "\n".join((_ALLOW, *map(_DENY.format, denied))).encode()
    )
    chats = (f"{home}/.gemini/tmp/*/chats/*", f"{home}/.gemini/projects.json", f"{home}/.gemini/tmp/*/.project_root")
    secret = {"GEMINI_API_KEY": turn.credential.secret}
    return Invocation(tuple(argv), {**env, **turn.env}, secret, (output, settings, policy), turn.prompt, chats)


def _settings(turn: TurnRequest) -> JSON:
    settings: JSON = {
        "security": {
            # With a base URL of one's own it refuses to start unless this is said.
            "auth": {"selectedType": "gemini-api-key"},
            # Restricted mode without a question about trust, which nobody is there to answer.
            "folderTrust": {"enabled": False},
            "environmentVariableRedaction": {"enabled": True, "blocked": ["GEMINI_API_KEY"]},
        },
        # By default ten, and an unreachable server takes over 90 s.
        "general": {"maxAttempts": 4, "enableAutoUpdate": False, "enableAutoUpdateNotification": False},
        "privacy": {"usageStatisticsEnabled": False},
        "hooksConfig": {"enabled": False},
        "skills": {"enabled": False},
        "advanced": {"ignoreLocalEnv": True},
        # No file of the checkout has the name of a session that is yet to come.
        "context": {"fileName": f"{turn.session}.greenloop.md"},
    }
    if turn.max_steps is not None:
        settings["model"] = {"maxSessionTurns": turn.max_steps}
    return settings
