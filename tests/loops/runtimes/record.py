"""Records the fixtures: `python -m tests.loops.runtimes.record` with the pinned CLIs on PATH."""

import json
import sys
import tempfile
from dataclasses import replace
from pathlib import Path

from loops.runtimes import registry
from loops.runtimes.base import Credential, Resume, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.replies import Edit, Read, Refusal, Reply, Shell, Step, Use, Write
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


FIRST, SECOND = "Look at the light", "Make it green"


def _task(at: str, status: str) -> Reply:
    return Reply("", Use("TaskUpdate", {"taskId": at, "status": status}))


def _listed(name: str, place: str, text: str, *states: tuple[str, str], **more: str) -> tuple[Step, ...]:
    """A tool that is given the whole list each time."""
    steps = ([{text: said, "status": state, **more} for said, state in zip((FIRST, SECOND), each, strict=True)]
             for each in states)  # fmt: skip
    return tuple(Reply("", Use(name, {place: each})) for each in steps)


STATES = (("in_progress", "pending"), ("completed", "in_progress"))
PLANNED: dict[str, tuple[Step, ...]] = {
    "claude": (
        Reply("", Use("ToolSearch", {"query": "select:TaskCreate,TaskUpdate", "max_results": 5})),
        Reply("", Use("TaskCreate", {"subject": FIRST, "description": "It is red."})),
        Reply("", Use("TaskCreate", {"subject": SECOND, "description": "As asked."})),
        *(_task(*change) for change in (("1", "in_progress"), ("1", "completed"), ("2", "in_progress"))),
    ),
    "codex": _listed("update_plan", "plan", "step", *STATES),
    "opencode": _listed("todowrite", "todos", "content", *STATES, priority="high"),
}


def main() -> None:
    """Runs each case with each CLI; with words, those cases only."""
    for name in (runtime.name for runtime in registry.agents() if runtime.package):
        scripts = {"work": Script(*WORK, Reply("Second answer."))} | {case: Script(*CASES[case]) for case in CASES}
        if name in PLANNED:
            scripts["planned"] = Script(*PLANNED[name])
        with ModelServer(scripts) as server:
            for case in (case for case in scripts if case in sys.argv[1:] or not sys.argv[1:]):
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
