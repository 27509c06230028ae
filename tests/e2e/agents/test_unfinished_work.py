"""A turn that is cut short loses nothing: its work is on the session's page, and the next turn is given it."""

import re
from pathlib import Path

import httpx

from k8s.local import LocalBoxes
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
