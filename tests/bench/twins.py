"""What is kept of failing jobs beside the same jobs as they passed: with and without the twin, tools known and unknown.

The jobs are those of `tests/loops/evidence/pairs`, whose lines were marked before anything was written for them.
"""

import io
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from loops.evidence import distill
from loops.evidence.passing.news import News
from loops.evidence.passing.twin import Twin, learn
from loops.evidence.recognise.match import TABLE
from loops.evidence.text.blocks import blocks
from loops.evidence.text.clean import lines
from tests.bench import ordinary
from tests.loops.evidence.pairs import Pair, pairs

TOOLS = frozenset(shape.tool for shape in TABLE)
GROUPS = {
    "first": ("harnesses", "orchestrators", "tools"),
    "second": ("builders", "gates", "services", "suites"),
    "floods": ("floods",),
}
LONG = 200_000  # lines of the log whose time is taken
CHUNK = 1 << 18
DIFF = ["git", "diff", "--no-index", "--minimal", "--numstat"]


def report() -> None:
    """Print the table, the comparison with a diff, and the time that a long log takes."""
    for group, sources in GROUPS.items():
        some = [pair for pair in pairs() if pair.source in sources]
        for known, without in (("tools known", frozenset[str]()), ("tools unknown", TOOLS)):
            for label, twin in (("alone", _none), ("with twin", _twin)):
                print(f"{group:8s} {known}, {label}: {_kept(some, without, twin)}", flush=True)
        new, unlike, differing = map(sum, zip(*map(_new, some), strict=True))
        print(
            f"{group:8s} {new} new lines, {unlike} unlike each other; longest-common-subsequence diff: {differing} "
            f"({1 - new / differing:.0%} and {1 - unlike / differing:.0%} fewer)"
        )
    _long()


def _none(_pair: Pair) -> Twin | None:
    return None


def _twin(pair: Pair) -> Twin:
    return learn([pair.green])


def _kept(some: list[Pair], without: frozenset[str], twin: Callable[[Pair], Twin | None]) -> str:
    recall, critical, size = [], [], []
    for pair in some:
        excerpt = distill([pair.red], twin=twin(pair), without=without).excerpt
        hits = [(line in excerpt, grave) for line, grave in pair.wanted]
        recall.append(sum(hit for hit, _ in hits) / len(hits))
        graver = [hit for hit, grave in hits if grave]
        critical.append(sum(graver) / len(graver) if graver else 1.0)
        size.append(len(excerpt.encode()) / 1000)
    count = len(recall)
    return (
        f"{count} jobs: recall {sum(recall) / count:.3f}, critical {sum(critical) / count:.3f}, "
        f"mean {sum(size) / count:.1f} kB, max {max(size):.1f} kB"
    )


def _new(pair: Pair) -> tuple[int, int, int]:
    """Lines that are new by the twin, those unlike each other, and those of a diff of the two logs without times and
    colours."""
    news = News(_twin(pair))
    for block in blocks([pair.red]):
        news.of(block)
    with tempfile.TemporaryDirectory() as folder:
        for name, log in (("green", pair.green), ("red", pair.red)):
            Path(folder, name).write_text("".join(f"{text}\n" for text in lines([(1, log)]).texts if text))
        done = subprocess.run([*DIFF, "green", "red"], cwd=folder, capture_output=True, text=True, check=False)
    return news.count, news.unlike, int(done.stdout.split()[0])


def _long() -> None:
    red, green = (_log(seed) for seed in (1, 2))
    before = time.process_time()
    twin = learn(_chunks(green))
    learnt = time.process_time()
    distill(_chunks(red), twin=twin)
    took = time.process_time()
    print(
        f"{red.count(bytes([10]))} lines, {len(red) / 1e6:.0f} MB: the twin {learnt - before:.2f} s, "
        f"the failing log against it {took - learnt:.2f} s; kept in {len(twin.dump()) / 1000:.1f} kB"
    )


def _log(seed: int) -> bytes:
    out = io.BytesIO()
    ordinary.write(out, LONG * 90, seed=seed)
    return out.getvalue()


def _chunks(log: bytes) -> Iterator[bytes]:
    for at in range(0, len(log), CHUNK):
        yield log[at : at + CHUNK]
