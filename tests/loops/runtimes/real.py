"""The real CLIs in real boxes: one runner each, at work for the service double, with a script instead of a model."""

import base64
import json
import os
import threading
import time
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from k8s.runner import protocol
from k8s.runner.processes import process_tree
from loops.runtimes import registry
from loops.runtimes.base import Credential, Invocation, Outcome, ProcessEnd, Resume, RuntimeEvent, TurnRequest
from loops.runtimes.scripted.brain import Script
from loops.runtimes.scripted.conversation import Conversation
from loops.runtimes.scripted.replies import Edit, Read, Refusal, Reply, Shell, Step
from loops.runtimes.scripted.server import ModelServer
from loops.sessions.caps import Caps, Spent
from tests.k8s.runner.conftest import Box, remains
from tests.k8s.runner.double import Service, Told, running

KEY = "sk-planted-0123456789abcdef"
LONG_PROMPT = "Please make it green.\n" + "x" * 200_000 + "\nThe end of the prompt."
STEPS = 4
# Two shapes of what people leave behind: a child in the background, and one that took itself out of everything.
DETACHED = "env -i setsid nohup sleep 98765 >/dev/null 2>&1 </dev/null &"
HANGING = Shell(f"{DETACHED} sleep 98764 & echo begun > begun.txt; sleep 98763")

SCRIPTS: dict[str, tuple[Step, ...]] = {
    "work": (
        Refusal(429, retry_after=1),
        Reply("I'll look at it.", Read("a.txt")),
        Reply("", Edit("a.txt", "red", "green")),
        Reply("", Shell("cat a.txt; exit 3")),
        Reply("", Shell("yes 0123456789 | head -c 5000000")),
        Reply("All done."),
        Reply("Second answer."),
    ),
    "refused": (Refusal(401),) * 12,
    # beyond the cap each step takes its time: how many more there are is not a matter of how busy the machine is
    "endless": tuple(Reply("", Shell(f"echo step {number}; sleep {3 * (number > STEPS)}")) for number in range(60)),
    "hangs": (Reply("", HANGING),),
    # longer than a CLI waits for its tool: each time it comes back, it is sent there again
    "hangs-again": (Reply("", HANGING),) * 60,
    "cancelled": (Reply("", HANGING), Reply("After all.")),
}


@dataclass
class Done:
    """One turn, as it was reported."""

    result: protocol.Result
    events: list[RuntimeEvent]
    outcome: Outcome
    asked: list[Conversation]
    seconds: float
    survivors: set[int] = field(default_factory=set)
    contents: dict[str, bytes] = field(default_factory=dict)

    def payloads(self, kind: str) -> list[dict[str, Any]]:
        """The payloads of one kind of event."""
        return [event.payload for event in self.events if event.kind == kind]


class RealCli:
    """All scenarios of one CLI, one after another in one box, like one person's work."""

    def __init__(self, name: str, root: Path, *, program: str = "", cases: Collection[str] = tuple(SCRIPTS)) -> None:
        self.name = name
        self._program = program
        self._cases = set(cases)
        self.done: dict[str, Done] = {}
        self._root = root
        self._error: BaseException | None = None
        self._finished = {case: threading.Event() for case in (*SCRIPTS, "resumed")}
        self._thread = threading.Thread(target=self._run, name=f"real-{name}", daemon=True)
        self._thread.start()

    def wait(self, case: str, seconds: float = 380) -> Done:
        """The turn `case`, once it is over."""
        assert self._finished[case].wait(seconds), f"{self.name} did not come to an end of {case!r} in {seconds} s"
        if case not in self.done and self._error is not None:
            raise AssertionError(f"{self.name}, {case}: {self._error!r}") from self._error
        return self.done[case]

    def join(self) -> None:
        """Wait for the end of all."""
        self._thread.join(380)

    def _run(self) -> None:
        try:
            scripts = {case: Script(*steps) for case, steps in SCRIPTS.items()}
            with Service(self._root / "repositories") as service, ModelServer(scripts) as server:
                self._all(Box(self._root, service), server)
        except BaseException as error:
            self._error = error
        finally:
            for event in self._finished.values():
                event.set()

    def _all(self, box: Box, server: ModelServer) -> None:
        sha = box.commit({"a.txt": "red\n"})
        with running(box.start()):
            turns = {case: self._turn(server, case) for case in SCRIPTS if case in self._cases}
            self._one(box, server, "work", turns["work"], sha)
            first = self.done["work"]
            resume = Resume(first.outcome.session_id or "", "{workdir}", first.outcome.totals)
            again = replace(turns["work"], prompt="And now?", resume=resume)
            self._one(box, server, "resumed", again, sha, script="work")
            self._one(box, server, "refused", turns["refused"], sha)
            if "endless" in turns:
                caps = Caps.of({"steps": STEPS})
                self._one(box, server, "endless", turns["endless"], sha, cancel=lambda told: self._over(told, caps))
            begun = box.checkout / "begun.txt"
            if "hangs" in turns:
                limit = {"opencode": 30}.get(self.name, 10)
                self._one(box, server, "hangs", turns["hangs"], sha, limits={"seconds": limit}, counts=begun.exists)
                if "hangs" not in self.done:
                    # on a busy machine the CLI had not come to its tool yet: the limit has to fall into that
                    again = self._turn(server, "hangs-again")
                    self._one(box, server, "hangs", again, sha, script="hangs-again", limits={"seconds": 5 * limit})
                begun.unlink(missing_ok=True)
            stop = "stop, said ann"
            self._one(
                box, server, "cancelled", turns["cancelled"], sha, cancel=lambda _: stop if begun.exists() else None
            )

    def _turn(self, server: ModelServer, case: str) -> TurnRequest:
        smoke = registry.smoke(self.name)
        return TurnRequest(
            prompt=LONG_PROMPT if case == "work" else "Please go on.",
            session="work" if case == "work" else case,
            model="scripted-1",
            provider=smoke.provider,
            base_url=server.base_url(case, smoke.wire),
            credential=Credential("api_key", KEY),
            program=self._program,
            max_steps=STEPS if case == "endless" else None,
        )

    def _one(
        self,
        box: Box,
        server: ModelServer,
        case: str,
        turn: TurnRequest,
        sha: str,
        *,
        script: str | None = None,
        cancel: Callable[[Told], str | None] | None = None,
        limits: dict[str, Any] | None = None,
        counts: Callable[[], bool] = lambda: True,
    ) -> None:
        runtime = registry.get(self.name)
        invocation = runtime.command(turn)
        before = len(server.requests(script or case))
        began = time.monotonic()
        marker = f"gl-{os.getpid()}-{self.name}-{case}"
        told = box.give("", sha, **_handed_out(invocation), marker=marker, limits=limits or {"seconds": 150})
        while told.result is None and time.monotonic() < began + 160:
            told.cancel = told.cancel or (cancel(told) if cancel else None)
            time.sleep(0.02)
        result = box.service.result(told, 5)
        took = time.monotonic() - began
        parser = runtime.parser(totals=turn.resume.totals if turn.resume else None)
        events: list[RuntimeEvent] = []
        for line in told.output.decode().splitlines():
            events += parser.parse(line)
            parser = runtime.parser(json.loads(json.dumps(parser.state())))
        files = {file.path: base64.b64decode(file.content) for file in result.files}
        outcome = parser.outcome(ProcessEnd(result.exit_code, result.reason, result.stderr_tail, files, result.message))
        survivors = remains(told.turn["marker"]) | _sleepers(box.home)
        contents = {change.path: told.objects[change.sha] for change in result.changes if change.sha}
        asked = server.requests(script or case)[before:]
        if counts():
            self.done[case] = Done(result, events, outcome, asked, took, survivors, contents)
            self._finished[case].set()

    def _over(self, told: Told, caps: Caps) -> str | None:
        parser = registry.get(self.name).parser()
        lines = told.output.decode().splitlines()
        spent = Spent()
        for payload in (event.payload for line in lines for event in parser.parse(line) if event.kind == "usage"):
            spent += Spent(payload["steps"], tokens=payload["input"] + payload["output"], cost=payload["cost"] or 0)
        over = caps.passed(spent)
        return over.message if over else None


def _handed_out(invocation: Invocation) -> dict[str, Any]:
    files = [
        {
            "path": file.path,
            "mode": file.mode,
            "content": base64.b64encode(file.content).decode(),
            "read_back": file.read_back,
        }
        for file in invocation.files
    ]
    env = {**invocation.env, **invocation.secret_env}
    return {"argv": list(invocation.argv), "env": env, "stdin": invocation.stdin, "files": files} | {
        "conversation": list(invocation.conversation)
    }


def _sleepers(home: Path) -> set[int]:
    """Processes of ours that sleep on: in the home, whatever became of their environment."""
    return {pid for pid in process_tree.table() if process_tree.works_in(pid, [home]) and b"9876" in _words(pid)}


def _words(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
