"""What Greenloop has to know of its own agent."""

from loops.runtimes.native.command import command, wires
from loops.runtimes.native.failures import FAILURES
from loops.runtimes.native.stream import NativeParser
from loops.runtimes.spec import ANY, Accepts, Endpoint, ModelCalls, RuntimeSpec, Smoke, Tools

SPEC = RuntimeSpec(
    name="native",
    title="our own agent",
    help="Our own small agent, on an API key for any of the three usual protocols, for whoever asks for it.",
    command=command,
    parser=NativeParser.begin,
    signs=FAILURES,
    program="greenloop-native",
    accepts=(Accepts(ANY, on_request=True),),
    needs_model=True,
    shows_images=True,
    key_variables=(("ANTHROPIC_API_KEY", "anthropic"), ("OPENAI_API_KEY", "openai")),
    endpoints=tuple(
        Endpoint(provider, "https://generativelanguage.googleapis.com/v1beta/openai")
        for provider in ("google", "gemini")
    ),
    calls=ModelCalls(wires=wires),
    smoke=Smoke(
        provider="scripted",
        wire="chat",
        tools=(
            Tools(
                run=("bash", "command"),
                read=("read_file", "path"),
                write=("write_file", "path", "content"),
                edit=("edit_file", "path", "old", "new"),
                edits="edits",
            ),
        ),
    ),
)
