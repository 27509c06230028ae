"""Why a check is red is told to people: folded in the comment, on file and line in the check run, whole on the page."""

import json
from pathlib import Path

import httpx

from tests.e2e.acts import asked, comment_says, own_check, runs
from tests.e2e.house import house

KEY = "ghp_" + "a1B2" * 9
FAILS = f"""\
echo 'running the checks of ``` this repository'
echo "src/money.py:7:5: error: Incompatible return value type"
echo "token={KEY}"
for n in $(seq 300); do echo "served request $n"; done
exit 3"""


async def test_people_are_told_why_a_check_is_red_and_no_secret_with_it(tmp_path: Path) -> None:
    async with house(tmp_path, run=json.dumps(FAILS), cap=1) as home:
        home.agent("pathlib.Path('page.txt').write_text(str(time.time()))")
        number = await asked(home, "make it right")
        session = await home.ended()
        body = await comment_says(home, number, "<details>", "Why ")
        assert "src/money.py:7" in body
        assert "Incompatible return value type" in body
        assert KEY not in body
        folded = body[body.index("<details>") : body.index("</details>")]
        assert "[Full log](http" in folded
        ticks = folded[folded.index("`") :].split("text")[0]
        assert len(ticks) > 3, "the fence is longer than the one inside"
        assert len(folded[folded.index("text") :].splitlines()) <= 20

        check = own_check(home, session.head_sha)
        assert ("src/money.py", 7) in [(each["path"], each["start_line"]) for each in check.annotations]
        assert len(check.annotations) == len({str(each) for each in check.annotations}), "none twice"

        async with httpx.AsyncClient() as client:
            page = (await client.get(f"{home.settings.public_url}/sessions/{session.public_id}")).text
        assert "Incompatible return value type" in page
        assert KEY not in page


async def test_people_are_told_why_even_where_repairs_are_switched_off(tmp_path: Path) -> None:
    async with house(tmp_path, run=json.dumps(FAILS)) as home:
        home.agent("pathlib.Path('page.txt').write_text('page'); wait()")
        number = await asked(home, "make it right")
        await runs(home)
        await home.comment(number, "@greenloop autofix off")
        home.let_go()
        session = await home.ended()
        assert session.reason == "autofix_off"
        assert "Incompatible return value type" in await comment_says(home, number, "<details>")
