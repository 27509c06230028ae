"""`make bench-evidence`: what the distiller keeps of real failing logs, and how fast and small it reads.

Recall and size are scored by `../shared/bench/score_logs.py` against its baselines; speed is compared with `grep -E`
over the same bytes in the same run.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

BENCH = Path(__file__).parents[3] / "shared" / "bench"
PATTERN = "error|failed|failure|traceback|exception|assert|panic|exit code|##\\[error\\]"
CLI = [sys.executable, "-m", "app", "distill"]
TARGET = 200_000_000


def main() -> None:
    score, cases = BENCH / "score_logs.py", BENCH / "ci-logs"
    if not score.exists():
        raise SystemExit(f"{score} is missing: lay the shared benchmark beside the repository")
    for baseline in ("tail", "grep", "hybrid"):
        done = _run([sys.executable, str(score), "--cases", str(cases), "--baseline", baseline])
        print(f"{baseline:8s} {done.splitlines()[-1]}", flush=True)
    print(_run([sys.executable, str(score), "--cases", str(cases), "--misses", "--", *CLI]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        _speed(cases, Path(folder) / "big.log")


def _speed(cases: Path, big: Path) -> None:
    once = b"".join(path.read_bytes() for path in sorted(cases.glob("*/raw.log")))
    with big.open("wb") as out:
        while out.tell() < TARGET:
            out.write(once)
    size = big.stat().st_size / 1e6
    grep = _timed(["grep", "-ciE", PATTERN], big)
    ours = _timed(CLI, big)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{size:.0f} MB: distill {size / ours:.0f} MB/s, grep -E {size / grep:.0f} MB/s, ratio {ours / grep:.1f}")
    print(f"largest child in memory: {peak:.0f} MB")


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
