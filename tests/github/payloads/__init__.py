"""Real example payloads of every webhook event; see NOTICE.md."""

import json
import lzma
from functools import cache
from pathlib import Path


@cache
def examples() -> tuple[tuple[str, bytes], ...]:
    """Every example as (event, JSON body)."""
    packed = (Path(__file__).parent / "examples.json.xz").read_bytes()
    found = json.loads(lzma.decompress(packed))
    return tuple((event, json.dumps(payload).encode()) for event, payloads in found.items() for payload in payloads)
