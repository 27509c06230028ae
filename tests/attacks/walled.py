"""A local box behind walls, in which hostile code runs as an agent."""

import asyncio
import textwrap
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from k8s.boxes import BoxesUnavailable, BoxSpec
from k8s.local import LocalBoxes
from k8s.runner import protocol
from k8s.runner.processes.walls import BWRAP, UNSHARE
from tests.k8s.runner.conftest import Box, server, service
from tests.k8s.runner.double import BOX, BOX_TOKEN, Service, Told
from tests.tools import need

__all__ = ["server", "service"]
SERVICES_SECRET = "secret-of-the-service-itself"


class Walled(Box):
    """A box behind walls, in which agents run at once, one after the other."""

    async def run(self, script: str, sha: str | None = None, **about: object) -> tuple[Told, protocol.Result]:
        told = self.give(textwrap.dedent(script), sha, **about)
        return told, await asyncio.to_thread(self.service.result, told)


@pytest.fixture(params=[BWRAP, UNSHARE])
async def walled(
    request: pytest.FixtureRequest, tmp_path: Path, service: Service, monkeypatch: pytest.MonkeyPatch
) -> AsyncIterator[Walled]:
    kind: str = request.param
    need(kind)
    monkeypatch.setenv("GREENLOOP_WEBHOOK_SECRETS", SERVICES_SECRET)
    boxes = LocalBoxes(tmp_path / "boxes", walls=kind)
    try:
        assert boxes.walls == kind
    except BoxesUnavailable:
        pytest.skip(f"this machine permits no namespaces: {kind} is here, and fails")
    made = Walled(tmp_path, service)
    made.home = tmp_path / "boxes" / BOX / "home"
    spec = BoxSpec(name=BOX, owner_key="1/2", token=BOX_TOKEN, service_url=service.url, labels={})
    assert (await boxes.ensure(spec)).usable
    yield made
    await boxes.delete_home(BOX)


def printed(told: Told) -> str:
    return told.output.decode()
