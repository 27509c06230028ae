"""What Greenloop has to know of OpenCode."""

from loops.runtimes.opencode.command import command
from loops.runtimes.opencode.failures import FAILURES
from loops.runtimes.opencode.providers import ENDPOINTS, wires
from loops.runtimes.opencode.stream import OpenCodeParser
from loops.runtimes.spec import ANY, Accepts, ModelCalls, RuntimeSpec, Smoke, Tools

SPEC = RuntimeSpec(
    name="opencode",
    title="OpenCode",
    help="An open agent, on a key of any provider, or an endpoint that speaks chat completions, with or without a key.",
    command=command,
    parser=OpenCodeParser.begin,
    signs=FAILURES,
    program="opencode",
    package="opencode-ai",
    former_names=("openai_direct",),
    accepts=(Accepts("openai", first_choice=True), Accepts(ANY, ("api_key", "none"))),
    needs_model=True,
    key_variables=(
        ("ANTHROPIC_API_KEY", "anthropic"),
        ("OPENAI_API_KEY", "openai"),
        ("GEMINI_API_KEY", "google"),
    ),
    key_prefixes={"sk-or-": "openrouter", "gsk_": "groq", "xai-": "xai"},
    endpoints=ENDPOINTS,
    calls=ModelCalls(wires=wires),
    key_files=("opencode/auth.json",),
    smoke=Smoke(
        provider="scripted",
        wire="chat",
        tools=(
            Tools(
                run=("bash", "command"),
                read=("read", "filePath"),
                write=("write", "filePath", "content"),
                edit=("edit", "filePath", "oldString", "newString"),
                also={"bash": {"description": "run a command"}},
            ),
        ),
    ),
)
