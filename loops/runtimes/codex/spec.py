"""What Greenloop has to know of Codex."""

from loops.runtimes.codex.command import command
from loops.runtimes.codex.failures import FAILURES
from loops.runtimes.codex.login import LOGIN
from loops.runtimes.codex.stream import CodexParser
from loops.runtimes.spec import ANY, Accepts, Endpoint, ModelCalls, Price, RuntimeSpec, Smoke, Tools

SPEC = RuntimeSpec(
    name="codex",
    title="Codex CLI",
    help="OpenAI's agent, on an API key, a ChatGPT login, or an endpoint that speaks the Responses API.",
    command=command,
    parser=CodexParser.begin,
    signs=FAILURES,
    program="codex",
    package="@openai/codex",
    accepts=(
        Accepts("openai"),
        Accepts("azure", first_choice=True, needs_model=True),
        Accepts(ANY, ("opencode_auth_json",), first_choice=True),
    ),
    key_variables=(("OPENAI_API_KEY", "openai"),),
    key_prefixes={"sk-proj-": "openai", "sk-svcacct-": "openai"},
    endpoints=(Endpoint("openai", "https://api.openai.com/v1", ("responses", "chat")),),
    # comments do not count as life, events that it does not know do; of a refusal in JSON people would see the JSON
    calls=ModelCalls(
        wires=lambda provider, custom: ("responses",),
        spent_status=400,
        spent_plain=True,
        keep_alive=b'event: greenloop.waiting\ndata: {"type":"greenloop.waiting"}\n\n',
    ),
    logins=(LOGIN,),
    prices={
        "gpt-5": Price(1.25, 0.125, 10),
        "gpt-5-mini": Price(0.25, 0.025, 2),
        "gpt-5-nano": Price(0.05, 0.005, 0.4),
        "gpt-4.1": Price(2, 0.5, 8),
        "gpt-4.1-mini": Price(0.4, 0.1, 1.6),
        "gpt-4o": Price(2.5, 1.25, 10),
        "gpt-4o-mini": Price(0.15, 0.075, 0.6),
        "o3": Price(2, 0.5, 8),
        "o4-mini": Price(1.1, 0.275, 4.4),
    },
    key_files=(".codex/auth.json",),
    smoke=Smoke(
        provider="openai",
        wire="responses",
        tools=(
            Tools(run=("exec_command", "cmd"), patch="apply_patch"),
            Tools(run=("shell_command", "command"), patch="apply_patch"),
        ),
    ),
)
