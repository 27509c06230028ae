"""The git gateway: a clone through it against one from GitHub itself; both ends share a process here, and its lock."""

import asyncio
import shutil
import statistics
import tempfile
import time
from pathlib import Path

from app.process.valkey import EmbeddedRedis
from tests.app.gateway.repository import REPOSITORY, Checkout, checkout

AIM = 0.8
BYTES = 30_000_000
ROUNDS = 3


def main() -> int:
    """Print the speeds. 1 when the gateway's is under `AIM` of the direct one."""
    with tempfile.TemporaryDirectory(prefix="greenloop-bench-") as name:
        folder = Path(name)
        redis = EmbeddedRedis(folder / "redis")
        try:
            direct, through = asyncio.run(_measured(folder, redis.start()))
        finally:
            redis.stop()
    speeds = [BYTES / 1e6 / seconds for seconds in (direct, through)]
    ratio = direct / through
    print(
        f"clone: {speeds[1]:.0f} MB/s through the gateway, {speeds[0]:.0f} from GitHub itself: {ratio:.2f}, aim {AIM}"
    )
    return 0 if ratio >= AIM else 1


async def _measured(folder: Path, redis_url: str) -> tuple[float, float]:
    """Seconds of a clone: the medians of both ways, taken in turn."""
    async with checkout(folder, redis_url, size=BYTES) as box:
        login = box.local.user("acme").token
        direct = f"{box.local.web_url}/{REPOSITORY}.git".replace("://", f"://acme:{login}@")
        times: dict[str, list[float]] = {direct: [], box.url(): []}
        for _ in range(ROUNDS):
            for url, taken in times.items():
                taken.append(await _cloned(box, url))
    first, second = (statistics.median(taken) for taken in times.values())
    return first, second


async def _cloned(box: Checkout, url: str) -> float:
    began = time.perf_counter()
    done = await box.git("clone", "-q", "--bare", url, "copy")
    taken = time.perf_counter() - began
    if done.returncode:
        raise RuntimeError(done.stderr)
    shutil.rmtree(box.folder / "copy")
    return taken
