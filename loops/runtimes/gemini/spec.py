"""What Greenloop has to know of Gemini CLI."""

from loops.runtimes.gemini.command import command
from loops.runtimes.gemini.failures import FAILURES
from loops.runtimes.gemini.stream import GeminiParser
from loops.runtimes.spec import Accepts, Endpoint, ModelCalls, Price, RuntimeSpec, Smoke, Tools

SPEC = RuntimeSpec(
    name="gemini",
    title="Gemini CLI",
    help="Google's agent, on an API key, or an endpoint that speaks the Gemini API.",
    command=command,
    parser=GeminiParser.begin,
    signs=FAILURES,
    program="gemini",
    package="@google/gemini-cli",
    accepts=(
        Accepts("google", first_choice=True),
        Accepts("gemini", first_choice=True),
        Accepts("google-vertex", ("google_service_account",), first_choice=True),
    ),
    needs_model=True,
    key_variables=(("GEMINI_API_KEY", "google"),),
    key_prefixes={"AIza": "google"},
    endpoints=(
        Endpoint("google", "https://generativelanguage.googleapis.com", ("generate_content",)),
        Endpoint("gemini", "https://generativelanguage.googleapis.com", ("generate_content",)),
        Endpoint("google-vertex", "https://aiplatform.googleapis.com/v1", ("generate_content",)),
    ),
    # its search of the web is asked of a model of its own
    calls=ModelCalls(
        wires=lambda provider, custom: ("generate_content",),
        may_ask=lambda given, asked: asked in (given, "gemini-3-flash-preview"),
    ),
    prices={
        "gemini-2.5-pro": Price(1.25, 0.31, 10),
        "gemini-2.5-flash": Price(0.3, 0.075, 2.5),
        "gemini-2.5-flash-lite": Price(0.1, 0.025, 0.4),
    },
    key_files=(".gemini/oauth_creds.json", ".gemini/mcp-oauth-tokens.json"),
    smoke=Smoke(
        provider="google",
        wire="generate_content",
        tools=(
            Tools(
                run=("run_shell_command", "command"),
                read=("read_file", "file_path"),
                write=("write_file", "file_path", "content"),
                edit=("replace", "file_path", "old_string", "new_string"),
                also={
                    "run_shell_command": {"description": "run a command"},
                    "replace": {"instruction": "make the change that was asked for"},
                },
            ),
        ),
    ),
)
