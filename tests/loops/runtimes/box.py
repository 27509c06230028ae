"""A thin box for tests: does with an invocation what the runner does, without a service."""

import os
import shutil
import signal
import subprocess
import time
from dataclasses import dataclass, field
from pathlib import Path

from loops.runtimes.base import Invocation, Outcome, ProcessEnd, RuntimeEvent, TurnRequest
from loops.runtimes.spec import RuntimeSpec


@dataclass
class Ran:
    """What came of one turn."""

    events: list[RuntimeEvent]
    outcome: Outcome
    exit_code: int
    stdout: str
    stderr: str
    seconds: float
    left: dict[str, bytes] = field(default_factory=dict)

    def payloads(self, kind: str) -> list[dict[str, object]]:
        """The payloads of one kind of event."""
        return [event.payload for event in self.events if event.kind == kind]


class Box:
    """A home directory with one checkout in it."""

    def __init__(self, root: Path) -> None:
        self.home, self.workdir, self.turn_dir = root / "home", root / "home/Code/o/r", root / "home/.greenloop/turns/t"
        for folder in (self.workdir, self.turn_dir):
            folder.mkdir(parents=True)
        (self.home / ".greenloop").chmod(0o700)
        subprocess.run(["git", "init", "-q", str(self.workdir)], check=True)

    def fill(self, text: str) -> str:
        """The three placeholders."""
        places = {"{home}": self.home, "{workdir}": self.workdir, "{turn_dir}": self.turn_dir}
        for name, path in places.items():
            text = text.replace(name, str(path))
        return text

    def run(self, runtime: RuntimeSpec, turn: TurnRequest, *, seconds: float = 60) -> Ran:
        """One turn, to its end or to the limit; parsed line by line by parsers that each begin from the last state."""
        invocation = runtime.command(turn)
        for file in invocation.files:
            path = self.home / file.path
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch(mode=file.mode)
            path.write_bytes(file.content)
        started = time.monotonic()
        out, err, code, reason = self._process(invocation, seconds)
        took = time.monotonic() - started
        left = {file.path: (self.home / file.path).read_bytes() for file in invocation.files if file.read_back}
        for file in invocation.files:
            (self.home / file.path).unlink(missing_ok=True)
        totals = turn.resume.totals if turn.resume else None
        parser, events = runtime.parser(totals=totals), []
        for line in out.splitlines():
            events += parser.parse(line)
            parser = runtime.parser(parser.state())
        outcome = parser.outcome(ProcessEnd(code, reason, err[-16_000:], left))
        return Ran(events, outcome, code, out, err, took, left)

    def _process(self, invocation: Invocation, seconds: float) -> tuple[str, str, int, str]:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.home), "LANG": "C.UTF-8"}
        env |= {name: self.fill(value) for name, value in {**invocation.env, **invocation.secret_env}.items()}
        argv = [self.fill(word) for word in invocation.argv]
        argv[0] = shutil.which(argv[0]) or argv[0]
        pipe = subprocess.PIPE
        process = subprocess.Popen(
            argv, cwd=self.workdir, env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True, start_new_session=True
        )
        reason = "exited"
        try:
            out, err = process.communicate(invocation.stdin, timeout=seconds)
        except subprocess.TimeoutExpired:
            reason = "timeout"
            os.killpg(process.pid, signal.SIGKILL)
            out, err = process.communicate()
        return out, err, process.returncode, reason
