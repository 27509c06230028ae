"""Secrets for a repository's tests: in a file while a turn runs, and nowhere else, before or after."""

import signal
from pathlib import Path

from sqlalchemy import select, update

from k8s.runner.processes import process_tree
from loops.secrets import env_secrets
from loops.secrets.vault import Vault
from loops.store.tables import Blob, Turn
from tests.e2e.house import REPOSITORY, House, house
from tests.walking import files

VALUE = "planted$value\"of'the'tests"
RULES = {".github/greenloop.yml": "env_secrets: [DATABASE_PASSWORD, NOT_STORED]\nenv_file: tests/.env.local\n"}
FILE = "tests/.env.local"
RIGHT = f"""
import stat
spot = pathlib.Path({FILE!r})
assert stat.S_IMODE(spot.stat().st_mode) == 0o600
found = subprocess.run(['sh', '-c', f'. ./{{spot}}; printf %s "$DATABASE_PASSWORD"'], capture_output=True, text=True)
print('the file says', spot.read_text(), 'and a shell', found.stdout)
assert {FILE!r} in prompt and {VALUE!r} not in prompt
assert found.stdout == {VALUE!r}
pathlib.Path('value.txt').write_text('right')
"""


async def stored(home: House, value: str = VALUE) -> int:
    """An issue; the repository is known from what was asked there, and its secret is stored."""
    number = await home.issue()
    await home.comment(number, "@greenloop help")
    await home.handled("issue_comment")
    vault = Vault(home.settings.encryption_key_list())
    await env_secrets.put(home.database, vault, REPOSITORY, "DATABASE_PASSWORD", value, 1.0)
    return number


def env_files(home: House) -> list[Path]:
    return files(home.settings.folder, ".env.local")


async def test_tests_get_their_secrets_afresh_each_turn_and_nothing_of_them_stays(tmp_path: Path) -> None:
    async with house(tmp_path, files=RULES) as home:
        number = await stored(home)
        home.agent(RIGHT)
        await home.comment(number, "@greenloop make it right")
        session = await home.ended()
        assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
        comment = (await home.bot_comments(number))[-1]
        assert "asks for `NOT_STORED`" in comment and f"greenloop secret set {REPOSITORY} NOT_STORED" in comment
        assert env_files(home) == []
        turn = (await home.turns())[0]
        assert (turn.given, turn.changed_files) == (None, ["value.txt"])
        await home.comment(number, "@greenloop once more")
        await home.turn_ended(2)
        assert env_files(home) == []
        assert [each.status for each in await home.turns()] == ["done", "done"]


async def test_an_env_file_is_refused_at_publishing_under_any_name(tmp_path: Path) -> None:
    async with house(tmp_path, files=RULES) as home:
        number = await stored(home)
        home.agent(f"pathlib.Path('copy.txt').write_text(pathlib.Path({FILE!r}).read_text())")
        await home.comment(number, "@greenloop make it right")
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "push_refused")
        comment = (await home.bot_comments(number))[-1]
        assert "`copy.txt`" in comment and "planted" not in comment
        async with home.database.read() as tx:
            assert (await tx.execute(select(Blob))).first() is None
        assert env_files(home) == []
        assert [branch["name"] for branch in await home.get("branches")] == ["main"]


async def test_a_repository_that_tracks_a_file_at_that_place_is_told_so(tmp_path: Path) -> None:
    async with house(tmp_path, files={**RULES, FILE: "PLAIN=1\n"}) as home:
        number = await stored(home)
        home.agent("pathlib.Path('value.txt').write_text('right')")
        await home.comment(number, "@greenloop make it right")
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "push_refused")
        assert f"`{FILE}` is where the secrets" in (await home.bot_comments(number))[-1]


async def test_the_file_goes_when_a_turn_is_stopped_fails_or_loses_its_runner(tmp_path: Path) -> None:
    async with house(tmp_path, files=RULES, session_seconds=600) as home:
        number = await stored(home)

        async def there() -> bool:
            return bool(env_files(home))

        home.agent("time.sleep(60)")
        await home.comment(number, "@greenloop be stopped")
        await home.until(there)
        await home.comment(number, "@greenloop stop")
        assert (await home.turn_ended(1)).status == "cancelled"
        await home.until(lambda: gone(home))
        home.agent("sys.exit(3)")
        await home.comment(number, "@greenloop fail")
        assert (await home.turn_ended(2)).error == "agent_failed: exit code 3"
        assert env_files(home) == []
        # the session has two seconds left
        async with home.database.write() as tx:
            await tx.execute(update(Turn).values(begun_at=Turn.heartbeat_at - 299))
        home.agent(f"assert pathlib.Path({FILE!r}).exists(); time.sleep(60)")
        await home.comment(number, "@greenloop take too long")
        assert (await home.turn_ended(3)).error == "limit_exceeded: wall clock"
        assert env_files(home) == []


async def gone(home: House) -> bool:
    return env_files(home) == []


async def test_the_file_of_a_turn_whose_runner_was_killed_goes_with_the_next_runner(tmp_path: Path) -> None:
    async with house(tmp_path, files=RULES, box_silence=2) as home:
        number = await stored(home)
        home.agent("pathlib.Path('begun').touch(); time.sleep(3); pathlib.Path('value.txt').write_text('right')")
        await home.comment(number, "@greenloop make it right")

        async def begun() -> bool:
            return bool(files(home.settings.folder, "begun"))

        await home.until(begun)
        killed = [pid for pid in process_tree.table() if _is_runner(pid, home)]
        assert killed
        for pid in killed:
            process_tree.send(pid, signal.SIGKILL)
        await home.ended()
        await home.until(lambda: gone(home))


def _is_runner(pid: int, home: House) -> bool:
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False
    return str(home.settings.folder).encode() in b" ".join(words) and b"--box" in words
