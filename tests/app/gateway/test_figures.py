"""What an operator sees of the gateways at /metrics."""

import asyncio
import re
from pathlib import Path

import httpx
from aiohttp import web

from app.settings import Settings
from tests.app.gateway.door import CHAT, door
from tests.app.gateway.repository import checkout


async def figures(url: str, requests: int) -> dict[str, float]:
    """The gateways' figures once so many requests are over: `name{label="value",…}` without the common beginning."""
    async with httpx.AsyncClient(timeout=60) as http, asyncio.timeout(60):
        while True:
            text = (await http.get(f"{url}/metrics")).text
            told = re.findall(r"^greenloop_gateway_(\S+) (\S+)$", text, re.MULTILINE)
            found = {name: float(value) for name, value in told}
            if sum(number for name, number in found.items() if name.startswith("requests_total")) >= requests:
                return found
            await asyncio.sleep(0.01)


async def test_requests_to_models_are_counted_by_provider_with_bytes_time_and_refusals(settings: Settings) -> None:
    async with door(settings) as opened:
        asked = [await opened.chat(), await opened.chat(model="another")]
        assert [each.status_code for each in asked] == [200, 404]
        opened.agent.headers["authorization"] = "Bearer none"
        assert (await opened.chat()).status_code == 401
        told = await figures(opened.public, 3)
    of = 'gateway="models",provider="custom"'
    assert told[f'requests_total{{{of},status="200"}}'] == 1
    assert told[f'requests_total{{{of},status="404"}}'] == told[f'refusals_total{{{of},status="404"}}'] == 1
    assert told['refusals_total{gateway="models",provider="none",status="401"}'] == 1
    assert f'refusals_total{{{of},status="200"}}' not in told
    assert told[f'bytes_total{{direction="answered",{of}}}'] == len(CHAT) + len(asked[1].content)
    assert told[f'bytes_total{{direction="asked",{of}}}'] == sum(len(each.request.content) for each in asked)
    assert told[f"seconds_count{{{of}}}"] == 2


async def test_a_refusal_of_the_providers_own_is_none_of_ours(settings: Settings) -> None:
    async def limited(request: web.Request) -> web.StreamResponse:
        return web.json_response({"error": {"message": "slow down"}}, status=429)

    async with door(settings, limited) as opened:
        assert (await opened.chat()).status_code == 429
        told = await figures(opened.public, 1)
    assert told['requests_total{gateway="models",provider="custom",status="429"}'] == 1
    assert not [name for name in told if name.startswith("refusals_total")]


async def test_fetches_are_counted_too(tmp_path: Path, redis_url: str) -> None:
    async with checkout(tmp_path, redis_url) as box:
        assert (await box.git("clone", "-q", box.url(), "copy")).returncode == 0
        assert (await box.git("-C", "copy", "push", "origin", "HEAD:refs/heads/mine")).returncode == 128
        told = await figures(box.served.url, 3)
    of = 'gateway="git",provider="github"'
    assert told[f'requests_total{{{of},status="200"}}'] >= 2
    assert told[f'refusals_total{{{of},status="403"}}'] >= 1
    assert told[f'bytes_total{{direction="answered",{of}}}'] > 200_000
