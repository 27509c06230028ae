"""How often GitHub is asked during one session that goes from red over a repair to green, by route.

The session is the second of its repository, so that tokens and facts are as in daily work; its agent takes longer than
an answer is kept for the step that asked. A 304 costs no rate limit, nor do requests by the App's own JWT; logs come
from another host and are no requests to GitHub's API, and GraphQL has a budget of its own.
"""

import asyncio
import re
import tempfile
from collections import Counter
from pathlib import Path

import httpx

from tests.e2e.house import House, house

BEFORE, COUNTED_BEFORE = 140, 105
"""Requests, and those that counted, of such a session in November 2026 before they were looked at."""
MOST, MOST_COUNTED = 40, 25
"""To reach."""
AGENT = """
time.sleep(6)
pathlib.Path('value.txt').write_text('right' if pathlib.Path('half').exists() else 'half')
pathlib.Path('half').write_text(prompt[:20])
"""
_PARTS = [
    (re.compile(r"^/repos/[^/]+/[^/]+"), ""),
    (re.compile(r"/[0-9a-f]{40}\b"), "/SHA"),
    (re.compile(r"/\d+"), "/N"),
    (re.compile(r"(heads|branches|compare|contents)/.*"), r"\1/…"),
]

SETTLE_SECONDS = 1  # as in the demo, whose checks take about as long as these
STORAGE = "/jobs/N.txt"
Asked = list[tuple[str, int]]


def _route(request: httpx.Request) -> str:
    path = request.url.path
    for pattern, name in _PARTS:
        path = pattern.sub(name, path)
    return f"{request.method} {path or '/'}"


async def session(home: House, asked: Asked) -> None:
    """One green session with one repair. What it asked is in `asked`."""
    home.agent(AGENT)
    for _ in range(2):
        asked.clear()
        before = len(await home.sessions())
        await home.comment(await home.issue(), "@greenloop fix it")
        ended = await home.ended(sessions=before + 1)
        if ended.outcome != "green" or len(await home.turns()) != 2 * (before + 1):
            raise RuntimeError(f"the session was to be repaired once and green: {await home.describe()}")


def main() -> int:
    """Print the table."""
    asked: Asked = []
    real = httpx.AsyncHTTPTransport.handle_async_request

    async def counted(transport: httpx.AsyncHTTPTransport, request: httpx.Request) -> httpx.Response:
        answer = await real(transport, request)
        if request.headers.get("user-agent", "").startswith("greenloop/"):
            asked.append((_route(request), answer.status_code))
        return answer

    async def run() -> None:
        with tempfile.TemporaryDirectory() as folder:
            async with house(Path(folder), settle_seconds=SETTLE_SECONDS) as home:
                await session(home, asked)

    httpx.AsyncHTTPTransport.handle_async_request = counted  # type: ignore[method-assign, assignment]
    try:
        asyncio.run(run())
    finally:
        httpx.AsyncHTTPTransport.handle_async_request = real  # type: ignore[method-assign]
    total, unchanged = Counter(route for route, _ in asked), Counter(route for route, status in asked if status == 304)
    print(f"{'request':56}{'all':>5}{'304':>5}")
    for route, count in total.most_common():
        print(f"{route:56}{count:5}{unchanged[route]:5}")
    asked = [each for each in asked if STORAGE not in each[0]]
    free = ("/app/", "/graphql")
    counting = sum(status != 304 and not any(part in route for part in free) for route, status in asked)
    queries = sum("/graphql" in route for route, _ in asked)
    print(f"{'in all, but for the storage of logs':56}{len(asked):5}{unchanged.total():5}")
    print(
        f"{len(asked)} requests: {len(asked) / BEFORE:.2f} of {BEFORE}, at most {MOST} wanted; {counting} count: "
        f"{counting / COUNTED_BEFORE:.2f} of {COUNTED_BEFORE}, at most {MOST_COUNTED} wanted; {queries} by GraphQL"
    )
    return 0
