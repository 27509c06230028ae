"""Each test of this room has a house of its own; what it says is checked against GitHub's OpenAPI at the end."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from github.emulator import LocalGitHub
from tests.github.emulator.house import House


@pytest.fixture
async def house(tmp_path: Path) -> AsyncIterator[House]:
    async with LocalGitHub() as local:
        made = House(local, tmp_path)
        yield made
        await made.close()
    made.watch.settle()
