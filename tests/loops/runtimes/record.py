"""Records the fixtures: `python -m tests.loops.runtimes.record` with the pinned CLIs on PATH."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

from loops.runtimes import registry
from loops.runtimes.base import Credential, Resume, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Edit, Read, Refusal, Reply, Shell, Step, Write
from loops.runtimes.scripted.server import ModelServer
from tests.loops.runtimes.box import Box

FIXTURES = Path(__file__).parent / "fixtures"
WORK: tuple[Step, ...] = (
    Reply("I'll look at it.", Read("a.txt"), reasoning="First look."),
    Reply("", Edit("a.txt", "red", "green")),
    Reply("", Write("new/b.txt", "one\ntwo\n")),
    Reply("", Shell("cat a.txt; exit 3")),
    Reply("All done."),
)
CASES: dict[str, tuple[Step, ...]] = {
    "refused": (Refusal(401),) * 9,
    "waited": (Refusal(429, retry_after=1), Reply("Had to wait.")),
}


def main() -> None:
    """Runs each case with each CLI."""
    for name in (runtime.name for runtime in registry.agents() if runtime.package):
        scripts = {"work": Script(*WORK, Reply("Second answer."))} | {case: Script(*CASES[case]) for case in CASES}
        with ModelServer(scripts) as server:
            for case in scripts:
                _record(name, case, server)


def _record(name: str, case: str, server: ModelServer) -> None:
    runtime, smoke = registry.get(name), registry.smoke(name)
    with tempfile.TemporaryDirectory() as root:
        box = Box(Path(root))
        (box.workdir / "a.txt").write_text("red\n")
        turn = TurnRequest(
            prompt="Please make it green.",
            model="scripted-1",
            provider=smoke.provider,
            base_url=server.base_url(case, smoke.wire),
            credential=Credential("api_key", "sk-planted-0123456789abcdef"),
        )
        ran = box.run(runtime, turn)
        _save(name, case, ran.stdout, ran.exit_code, ran.stderr, root)
        if case == "work" and ran.outcome.session_id:
            resumed = replace(turn, prompt="And now?", resume=Resume(ran.outcome.session_id))
            ran = box.run(runtime, resumed)
            _save(name, "resumed", ran.stdout, ran.exit_code, ran.stderr, root)


def _save(name: str, case: str, stdout: str, exit_code: int, stderr: str, root: str) -> None:
    folder = FIXTURES / name
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{case}.jsonl").write_text(stdout.replace(root, "/box"))
    told = {"exit_code": exit_code, "stderr": stderr.replace(root, "/box")}
    (folder / f"{case}.ending.json").write_text(json.dumps(told, indent=1) + "\n")


if __name__ == "__main__":
    main()
