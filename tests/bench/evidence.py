"""`make bench-evidence`: what the distiller keeps of real failing logs, and how fast and small it reads.

Recall and size are scored by `../shared/bench/score_logs.py` against its baselines. Speed is compared with `grep -E`
over the same bytes in the same run: that of the command, its start included, and that of the function in a process that
has it loaded, as a worker has.
"""

import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from loops.evidence import distill
from loops.secrets.redact import Redactor
from tests.bench import ordinary, twins

BENCH = Path(__file__).parents[3] / "shared" / "bench"
PATTERN = "error|failed|failure|traceback|exception|assert|panic|exit code|##\\[error\\]"
CLI = [sys.executable, "-m", "app", "distill"]
GENERAL = [sys.executable, "-m", "tests.bench.general"]
MB = 1_000_000
SIZES = (1, 20, 50, 200)  # MB
KIND = 20  # MB of each kind of log
PIPED = 1_000  # MB through a pipe, for the memory
CHUNK = 1 << 18
AIM = 60  # MB/s of an ordinary log of 20 MB, with the start of the command
SOON = 0.15  # seconds for an ordinary log of 1 MB, loaded
MEMORY = 64  # MiB at most


def main() -> None:
    score, cases = BENCH / "score_logs.py", BENCH / "ci-logs"
    if not score.exists():
        raise SystemExit(f"{score} is missing: lay the shared benchmark beside the repository")
    for baseline in ("tail", "grep", "hybrid"):
        done = _run([sys.executable, str(score), "--cases", str(cases), "--baseline", baseline])
        print(f"{baseline:8s} {done.splitlines()[-1]}", flush=True)
    general = _run([sys.executable, str(score), "--cases", str(cases), "--", *GENERAL])
    print(f"general  {general.splitlines()[-1]}", flush=True)
    print(_run([sys.executable, str(score), "--cases", str(cases), "--misses", "--", *CLI]), flush=True)
    twins.report()
    with tempfile.TemporaryDirectory() as folder:
        met = _speed(cases, Path(folder))
    sys.exit(0 if met else 1)


def _speed(cases: Path, folder: Path) -> bool:
    """Measure ordinary logs of all sizes, other kinds, and failing jobs; answer whether the aims are met."""
    log = folder / "job.log"
    rates, seconds = {}, {}
    for size in SIZES:
        with log.open("wb") as out:
            ordinary.write(out, size * MB)
        rates[size], seconds[size] = _compare("ordinary", log)
    for kind in ordinary.KINDS:
        if kind != "ordinary":
            with log.open("wb") as out:
                ordinary.write(out, KIND * MB, kind)
            _compare(kind, log)
    once = b"".join(path.read_bytes() for path in sorted(cases.glob("*/raw.log")))
    log.write_bytes(once * (KIND * MB // len(once)))
    _compare("failing jobs", log)
    peak = _piped(log)
    print(f"{PIPED} MB of failing jobs through a pipe: {peak:.0f} MiB of memory")
    return rates[20] >= AIM and seconds[1] <= SOON and peak <= MEMORY


def _compare(name: str, log: Path) -> tuple[float, float]:
    """MB/s of one core, the start of the command included, and seconds without it; the better of two runs."""
    size = log.stat().st_size / MB
    grep = min(_timed(["grep", "-ciE", PATTERN], log) for _ in range(2))
    ours = min(_timed(CLI, log) for _ in range(2))
    loaded = min(_loaded(log) for _ in range(2))
    print(
        f"{name}, {size:.0f} MB: command {ours:.2f} s, {size / ours:.0f} MB/s; loaded {loaded:.2f} s, "
        f"{size / loaded:.0f} MB/s; grep -E {grep:.2f} s, {size / max(grep, 0.001):.0f} MB/s; "
        f"command : grep {ours / max(grep, 0.001):.1f}",
        flush=True,
    )
    return size / ours, loaded


def _loaded(log: Path) -> float:
    redact = Redactor().text
    with log.open("rb") as file:
        before = time.process_time()
        distill(iter(lambda: file.read(CHUNK), b""), redact=redact)
        return time.process_time() - before


def _piped(log: Path) -> float:
    """MiB that the command took at most while the log, over and over, went through a pipe."""
    part = log.read_bytes()
    with subprocess.Popen(CLI, stdin=subprocess.PIPE, stdout=subprocess.DEVNULL) as process:
        assert process.stdin
        for _ in range(PIPED * MB // len(part)):
            process.stdin.write(part)
        process.stdin.close()
        _, status, usage = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{CLI} ended with {process.returncode}")
    return usage.ru_maxrss / 1024


def _timed(command: list[str], log: Path) -> float:
    """Seconds of one core, which a busy machine does not lengthen much."""
    before = _used()
    with log.open("rb") as stdin:
        # not the null device: grep stops at its first match there
        subprocess.run(command, stdin=stdin, stdout=subprocess.PIPE, check=True)
    return _used() - before


def _used() -> float:
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def _run(command: list[str]) -> str:
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.rstrip()


if __name__ == "__main__":
    main()
