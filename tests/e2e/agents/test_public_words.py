"""A public comment says what happened, and nothing of how the service is built."""

from pathlib import Path

import pytest

from tests.e2e.acts import asked
from tests.e2e.house import house


@pytest.mark.parametrize("command", ["/opt/agents/missing-agent --fast", "missing-agent"])
async def test_a_program_that_is_not_there_is_told_without_the_paths_of_the_service(
    tmp_path: Path, command: str
) -> None:
    async with house(tmp_path, command=command) as home:
        number = await asked(home, "make it right")
        session = await home.ended()
        assert session.status == "failed"
        [body] = await home.bot_comments(number)
        for place in ("/usr/bin", "/opt/agents", str(tmp_path), "PATH is /", "GREENLOOP_"):
            assert place not in body, body
        assert any("/" in note for note in session.notes), "whoever runs the service can read it in full"
