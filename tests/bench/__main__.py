"""`python -m tests.bench [NAME …]`: the benchmarks, all or by name. Exit 1 when one misses its aim."""

import sys
from collections.abc import Callable

from tests.bench import (
    attacks,
    boxes,
    clone,
    events,
    gateway,
    guard,
    latency,
    output,
    receiver,
    requests,
    routing,
    runner,
    scale,
)

BENCHMARKS: dict[str, Callable[[], int]] = {
    "attacks": attacks.main,
    "boxes": boxes.main,
    "clone": clone.main,
    "events": events.main,
    "gateway": gateway.main,
    "guard": guard.main,
    "latency": latency.main,
    "output": output.main,
    "receiver": receiver.main,
    "requests": requests.main,
    "routing": routing.main,
    "runner": runner.main,
    "scale": scale.main,
}


def main(names: list[str]) -> int:
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"unknown benchmark {', '.join(unknown)}; there are: {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    return max(BENCHMARKS[name]() for name in names or BENCHMARKS)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
