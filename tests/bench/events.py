"""How many webhooks a second the parser reads and decides: GitHub's 329 examples, one core. The aim is 1,000."""

import time

from github.webhooks.events import parse
from github.webhooks.identity import Me
from github.webhooks.triggers import decide
from tests.github.payloads import examples

AIM = 1000
SECONDS = 2.0


def main() -> int:
    me = Me(app_id=1, slug="greenloop")
    corpus = examples()
    size = sum(len(body) for _event, body in corpus) / len(corpus)
    count, started = 0, time.perf_counter()
    while (took := time.perf_counter() - started) < SECONDS:
        for event, body in corpus:
            decide(parse(event, body), me)
        count += len(corpus)
    rate = count / took
    print(f"events: {rate:,.0f}/s read and decided ({size / 1000:.1f} kB on average), aim {AIM:,}/s")
    return 0 if rate >= AIM else 1
