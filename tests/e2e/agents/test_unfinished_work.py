"""A turn that is cut short loses nothing: its work is on the session's page, and the next turn is given it."""

import contextlib
import os
import re
import signal
import time
from pathlib import Path

import httpx
from sqlalchemy import select

from k8s.local import LocalBoxes
from k8s.runner.state import signed
from loops.boxes.troubles import note_trouble
from loops.store.tables import Turn
from loops.store.work_tables import WorkSoFar
from tests.e2e.acts import asked
from tests.e2e.house import PROVIDER_KEY, House, house

BEGINS = rf"""
import re
left = re.search(r"cut short \(`WHY`\).*it is in `(.+?)`", prompt)
if left:
    subprocess.run(["git", "apply", "--3way", left[1]], check=True)
else:
    pathlib.Path("half.py").write_text("half = 1\n")
    pathlib.Path("key.py").write_text("KEY = '{PROVIDER_KEY}'\n")
    os.makedirs(".github/workflows")
    pathlib.Path(".github/workflows/ci.yml").write_text("on: push\n")
    pathlib.Path(__file__).with_name("begun").touch()
    wait()
"""


async def _half_done(home: House, why: str) -> int:
    """An issue of Alice's with an agent at work on it, which has changed some files by now."""
    home.agent(BEGINS.replace("WHY", why))
    number = await asked(home, "make it right")
    begun = home.folder / "begun"

    async def works() -> bool:
        return begun.exists()

    await home.until(works)
    return number


async def test_what_a_cancelled_turn_had_changed_is_kept_without_what_guards_refuse_and_gone_on_with(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, run=None) as home:
        await home.account()
        number = await _half_done(home, "cancelled by alice")
        await home.comment(number, "@greenloop stop")
        session = await home.ended()
        assert session.status == "cancelled", await home.describe()
        (note,) = (each for each in session.notes if "a patch of 1 file" in each)
        address = re.search(r"\((http\S+/turns/1/patch)\)", note)
        assert address is not None and "key.py" in note and "ci.yml" in note
        async with httpx.AsyncClient() as http:
            answer = await http.get(address[1])
            page = (await http.get(address[1].removesuffix("/turns/1/patch"))).text
            other = await http.get(address[1].replace("turns/1", "turns/2"))
        assert answer.status_code == 200 and "attachment" in answer.headers["content-disposition"]
        assert "+half = 1" in answer.text and PROVIDER_KEY not in answer.text and "ci.yml" not in answer.text
        assert "turns/1/patch" in page and "half = 1" in page and PROVIDER_KEY not in page
        assert other.status_code == 404
        await home.comment(number, "@greenloop retry")
        await home.handled("issue_comment", 3)
        session = await home.ended()
        assert session.outcome == "no_checks", await home.describe()
        files = await home.get(f"pulls/{session.pull_number}/files")
        assert [each["filename"] for each in files] == ["half.py"]


async def test_what_a_turn_had_changed_when_its_box_was_stopped_is_given_to_its_next_try(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        await home.account()
        await _half_done(home, ".*")
        (turn,) = await home.turns()
        await LocalBoxes(home.folder / "data" / "boxes").stop(turn.box or "")
        session = await home.ended()
        assert session.outcome == "no_checks", await home.describe()
        (turn,) = await home.turns()
        assert (turn.lost, turn.changed_files) == (1, ["half.py"])


PARTS = rf"""
import re
left = re.search(r"cut short \(`box lost`\).*it is in `(.+?)`", prompt)
if left:
    subprocess.run(["git", "apply", "--3way", left[1]], check=True)
here = pathlib.Path(__file__).parent
part = len(list(here.glob("begun*")))
pathlib.Path(f"part{{part}}.py").write_text("part = 1\n")
pathlib.Path("key.py").write_text("KEY = '{PROVIDER_KEY}'\n")
pathlib.Path(".npmrc").write_text("registry=https://registry.example\n")
if part == 2:
    os.unlink("key.py")
    os.unlink(".npmrc")
else:
    (here / f"begun{{part}}").touch()
    wait()
"""


async def _killed_with_its_box(home: House, name: str) -> str:
    """The session's page once the box had told of a file `name`; then the box is no more, in one blow."""

    async def told() -> Turn | None:
        async with home.database.read() as tx:
            found = await tx.execute(select(WorkSoFar, Turn).join(Turn, Turn.id == WorkSoFar.turn_id))
            return next((turn for work, turn in found if name in str(work.changes)), None)

    turn = await home.until(told)
    (session,) = await home.sessions()
    async with httpx.AsyncClient() as http:
        page = (await http.get(f"{home.settings.public_url}/sessions/{session.public_id}")).text
    runner = next(home.settings.folder.glob("boxes/**/runner/turns")).parent
    for lock in (runner / "lock", *runner.glob("turns/*/lock"), *runner.glob("turns/*/supervisor")):
        with contextlib.suppress(ProcessLookupError):
            os.kill(signed(lock) or 0, signal.SIGKILL)
    await note_trouble(time.time, home.database, turn.box or "")
    return page


async def test_what_a_turn_had_changed_when_its_box_was_killed_without_a_word_is_given_on_again_and_again(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, run=None, work_seconds=0.1) as home:
        await home.account()
        home.agent(PARTS)
        number = await asked(home, "make it right")
        page = await _killed_with_its_box(home, "part0.py")
        assert "so far: " in page and "part = 1" in page and PROVIDER_KEY not in page
        await _killed_with_its_box(home, "part1.py")
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "box_lost"), await home.describe()
        (note,) = (each for each in session.notes if "a patch of 2 files" in each)
        assert "key.py" in note and ".npmrc" in note
        async with httpx.AsyncClient() as http:
            patch = (await http.get(re.findall(r"\((http\S+/turns/1/patch)\)", note)[0])).text
        assert patch.count("+part = 1") == 2 and PROVIDER_KEY not in patch and "registry" not in patch
        await home.comment(number, "@greenloop retry")
        await home.handled("issue_comment", 2)
        session = await home.ended()
        assert session.outcome == "no_checks", await home.describe()
        assert [turn.changed_files for turn in await home.turns()] == [[], ["part0.py", "part1.py", "part2.py"]]
        async with home.database.read() as tx:
            assert (await tx.execute(select(WorkSoFar))).first() is None
