"""The API, asked by people with tokens of their own."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.app.web.api.world import World, world


@pytest.fixture
async def here(tmp_path: Path, sqlite_url: str, redis_url: str) -> AsyncIterator[World]:
    async with world(tmp_path, sqlite_url, redis_url) as made:
        yield made
