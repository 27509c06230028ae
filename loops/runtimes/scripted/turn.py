"""`python -m loops.runtimes.scripted.turn RUNTIME`: one whole turn with a real CLI and a script instead of a model.

The smoke script's second half: shows that the adapter, the CLI and, with `--image`, the image fit together.
"""

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path

from loops.runtimes import registry
from loops.runtimes.base import Credential, Invocation, ProcessEnd, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Edit, Read, Reply
from loops.runtimes.scripted.server import ModelServer

SECONDS = 120


def main() -> None:
    """Exit 0 when the CLI made the change it was told to make, and said so."""
    words = argparse.ArgumentParser(description="One scripted turn with a real agent CLI.")
    words.add_argument("runtime", nargs="?", choices=[runtime.name for runtime in registry.agents()])
    words.add_argument("--list", action="store_true", help="the agents: name, program and npm package, or - for none")
    words.add_argument("--image", help="run the CLI in a container of this image")
    words.add_argument("--engine", default="docker")
    given = words.parse_args()
    if given.list:
        for each in registry.agents():
            print(each.name, each.program, each.package or "-")
        return
    if given.runtime is None:
        words.error("which runtime?")
    steps = (
        Reply("First a look.", Read("light.txt")),
        Reply("", Edit("light.txt", "red", "green")),
        Reply("It is green."),
    )
    with tempfile.TemporaryDirectory() as folder, ModelServer({"smoke": Script(*steps)}) as server:
        sys.exit(_turn(Path(folder), server, given))


def _turn(home: Path, server: ModelServer, given: argparse.Namespace) -> int:
    runtime = registry.get(given.runtime)
    smoke = registry.smoke(given.runtime)
    turn = TurnRequest(
        prompt="Make the light green.",
        session="smoke",
        model="scripted-1",
        provider=smoke.provider,
        base_url=server.base_url("smoke", smoke.wire),
        credential=Credential("api_key", "sk-smoke-0123456789abcdef"),
    )
    checkout = home / "checkout"
    checkout.mkdir()
    (checkout / "light.txt").write_text("red\n")
    subprocess.run(["git", "init", "-q", str(checkout)], check=True)
    invocation = runtime.command(turn)
    done = _start(home, checkout, invocation, given)
    parser = runtime.parser()
    for line in done.stdout.splitlines():
        parser.parse(line)
    outcome = parser.outcome(ProcessEnd(done.returncode, stderr_tail=done.stderr))
    changed = (checkout / "light.txt").read_text() == "green\n"
    if changed and not outcome.error:
        print(f"{given.runtime}: one scripted turn, “{outcome.message}”")
        return 0
    why = outcome.error or "it ended without the change it was told to make"
    print(f"{given.runtime}: {why}\n{done.stderr[-2_000:]}", file=sys.stderr)
    return 1


def _start(
    home: Path, checkout: Path, invocation: Invocation, given: argparse.Namespace
) -> "subprocess.CompletedProcess[str]":
    for file in invocation.files:
        path = home / file.path
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch(file.mode)
        path.write_bytes(file.content)
    (home / "turn").mkdir()

    def fill(text: str) -> str:
        for name, path in (("{home}", home), ("{workdir}", checkout), ("{turn_dir}", home / "turn")):
            text = text.replace(name, str(path))
        return text

    argv = [fill(word) for word in invocation.argv]
    env = {"HOME": str(home), **{name: fill(value) for name, value in invocation.env.items()}, **invocation.secret_env}
    if given.image:
        user = f"{os.getuid()}:{os.getgid()}"
        inside = [given.engine, "run", "-i", "--rm", "--network", "host", "--user", user, "-w", str(checkout)]
        inside += ["-v", f"{home}:{home}", *(word for name in env for word in ("-e", name)), "--entrypoint", argv[0]]
        argv = [*inside, given.image, *argv[1:]]
    return subprocess.run(
        argv,
        cwd=checkout,
        env={"PATH": os.environ["PATH"], "LANG": "C.UTF-8", **env},
        input=invocation.stdin,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=False,
    )


if __name__ == "__main__":
    main()
