"""What Greenloop has to know of Claude Code."""

from loops.runtimes.claude.command import command
from loops.runtimes.claude.failures import FAILURES
from loops.runtimes.claude.login import LOGIN, TOKEN
from loops.runtimes.claude.models import PRICES, asks_for, may_ask
from loops.runtimes.claude.stream import ClaudeParser
from loops.runtimes.spec import Accepts, Endpoint, ModelCalls, RuntimeSpec, Smoke, Tools

SPEC = RuntimeSpec(
    name="claude",
    title="Claude Code",
    help="Anthropic's agent, on an API key, a login, or an endpoint that speaks the Messages API.",
    command=command,
    parser=ClaudeParser.begin,
    signs=FAILURES,
    program="claude",
    package="@anthropic-ai/claude-code",
    accepts=(
        Accepts("anthropic", ("api_key", "anthropic_oauth_json", "anthropic_oauth_token"), first_choice=True),
        Accepts("amazon-bedrock", ("aws_bearer_token", "aws_access_key"), first_choice=True, needs_model=True),
        Accepts("google-vertex-anthropic", ("google_service_account",), first_choice=True, needs_model=True),
    ),
    key_variables=(("ANTHROPIC_API_KEY", "anthropic"),),
    key_prefixes={"sk-ant-": "anthropic"},
    endpoints=(
        Endpoint("anthropic", "https://api.anthropic.com", ("messages",)),
        Endpoint("google-vertex-anthropic", "https://aiplatform.googleapis.com/v1", ("messages",)),
    ),
    calls=ModelCalls(wires=lambda provider, custom: ("messages",), may_ask=may_ask, asks_for=asks_for),
    logins=(LOGIN, TOKEN),
    prices=PRICES,
    key_files=(".claude/.credentials.json",),
    smoke=Smoke(
        provider="anthropic",
        wire="messages",
        tools=(
            Tools(
                run=("Bash", "command"),
                read=("Read", "file_path"),
                write=("Write", "file_path", "content"),
                edit=("Edit", "file_path", "old_string", "new_string"),
                also={"Bash": {"description": "run a command"}},
            ),
        ),
    ),
)
