"""`make bench-evidence`: what the distiller keeps of real failing logs, and how fast and small it reads.

Recall and size are scored by `../shared/bench/score_logs.py` against its baselines; speed is compared with `grep -E`
over the same bytes in the same run.
"""

import resource
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench import ordinary

BENCH = Path(__file__).parents[3] / "shared" / "bench"
PATTERN = "error|failed|failure|traceback|exception|assert|panic|exit code|##\\[error\\]"
CLI = [sys.executable, "-m", "app", "distill"]
SIZES = (100_000, 1_000_000, 20_000_000, 200_000_000)
AIM = 100  # MB/s of the largest ordinary log, with the start of the command
MEMORY = 64  # MiB at most


def main() -> None:
    score, cases = BENCH / "score_logs.py", BENCH / "ci-logs"
    if not score.exists():
        raise SystemExit(f"{score} is missing: lay the shared benchmark beside the repository")
    for baseline in ("tail", "grep", "hybrid"):
        done = _run([sys.executable, str(score), "--cases", str(cases), "--baseline", baseline])
        print(f"{baseline:8s} {done.splitlines()[-1]}", flush=True)
    print(_run([sys.executable, str(score), "--cases", str(cases), "--misses", "--", *CLI]), flush=True)
    with tempfile.TemporaryDirectory() as folder:
        met = _speed(cases, Path(folder))
    sys.exit(0 if met else 1)


def _speed(cases: Path, folder: Path) -> bool:
    """Measure ordinary logs from small to large, then one of failing jobs only; answer whether the aims are met."""
    log = folder / "job.log"
    rate = 0.0
    for size in SIZES:
        with log.open("wb") as out:
            ordinary.write(out, size)
        rate = _compare("ordinary", log)
    once = b"".join(path.read_bytes() for path in sorted(cases.glob("*/raw.log")))
    with log.open("wb") as out:
        for _ in range(SIZES[-1] // len(once)):
            out.write(once)
    _compare("failing jobs only", log)
    peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"largest child in memory: {peak:.0f} MiB")
    return rate >= AIM and peak <= MEMORY


def _compare(name: str, log: Path) -> float:
    """MB/s of one core, the start of the command included; the better of two runs."""
    size = log.stat().st_size / 1e6
    grep = min(_timed(["grep", "-ciE", PATTERN], log) for _ in range(2))
    ours = min(_timed(CLI, log) for _ in range(2))
    print(
        f"{name}, {size:.1f} MB: distill {ours:.2f} s, {size / ours:.0f} MB/s; grep -E {size / grep:.0f} MB/s; "
        f"ratio {ours / grep:.1f}",
        flush=True,
    )
    return size / ours


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
