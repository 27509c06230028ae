"""Which GitHub the contract is held against."""

import asyncio
from collections.abc import Iterator

import pytest

from github.emulator import LocalGitHub
from tests.github.contract.local import LocalTarget
from tests.github.contract.target import RealTarget, Target, cleaned, wanted


@pytest.fixture(scope="session")
def target(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Target]:
    """The GitHub that the environment names, else a local one; whatever was made there is taken away at the end."""
    if wanted():
        with cleaned(RealTarget()) as real:
            yield real
        return
    local = LocalGitHub()
    asyncio.run(local.start())
    try:
        made = LocalTarget(local, tmp_path_factory.mktemp("contract"))
        with cleaned(made):
            yield made
        made.watch.settle()
    finally:
        asyncio.run(local.stop())
