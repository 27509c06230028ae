"""The service itself tells others what becomes of its sessions."""

from pathlib import Path

from tests.e2e.house import house
from tests.loops.notifications.receiver import receiving
from tests.loops.notifications.test_send import BUILD


async def test_a_program_hears_of_every_state_of_a_session_that_somebody_asked_for(tmp_path: Path) -> None:
    async with receiving(tmp_path) as receiver:
        hooks = receiver.options(BUILD).hooks_file
        async with house(tmp_path / "house", run=None, hooks_file=hooks) as home:
            home.agent("pass")
            number = await home.issue()
            await home.comment(number, "@greenloop make it right")
            session = await home.ended()

            async def told() -> list[str] | None:
                types = receiver.types("build")
                return types if len(types) >= 3 else None

            assert sorted(await home.until(told)) == [f"session.{each}" for each in ("completed", "pending", "running")]
            assert session.status == "completed"
