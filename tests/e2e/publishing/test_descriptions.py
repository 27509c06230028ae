"""What a commit and a pull request say of a turn: what its agent left for them, in the repository's own style."""

import base64
import json
from pathlib import Path

from tests.e2e.acts import asked
from tests.e2e.house import REPOSITORY, House, house

TOLD = {
    "subject": "Round totals half up",
    "what": "Totals were floats.\n\n- now `Decimal`",
    "checked": "`pytest -q`: 12 passed.",
    "left": "VAT is still a float.",
}
TELLS = """
import json, re
told = re.search(r"write the same into `(.+?)`", prompt)[1]
schema = json.loads(pathlib.Path(re.search(r"the schema is `(.+?)`", prompt)[1]).read_text())
assert set(schema["properties"]) == {"subject", "what", "checked", "left"}
"""
PATTERN = {"type": "commit_message_pattern", "parameters": {"operator": "regex", "pattern": "^(feat|fix): [a-z]"}}


async def _log(home: House, *subjects: str) -> None:
    """Commits of Alice's on the default branch."""
    for number, subject in enumerate(subjects):
        content = base64.b64encode(b"x").decode()
        await home.post("alice", f"contents/{number}.txt", {"message": subject, "content": content}, method="PUT")


async def _messages(home: House, number: int | None) -> list[str]:
    return [str(each["commit"]["message"]) for each in await home.get(f"pulls/{number}/commits")]


async def test_a_description_makes_commit_and_pull_request_in_the_style_of_the_log(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        await _log(home, "feat: add totals", "fix(tax): round up", "docs: tell of VAT")
        home.local.add_ruleset(REPOSITORY, "messages", ["~ALL"], [PATTERN], exclude=["refs/heads/main"])
        first = f"pathlib.Path(told).write_text({json.dumps(TOLD)!r})\n  pathlib.Path('value.txt').write_text('no')"
        then = "pathlib.Path('value.txt').write_text('right')"
        home.agent(f"{TELLS}\nif 'failed on' not in prompt:\n  {first}\nelse:\n  {then}")
        await asked(home, "round the *totals* and make the checks green")
        session = await home.ended()
        assert session.outcome == "green", await home.describe()
        described, repair = await _messages(home, session.pull_number)
        assert described.startswith("feat: round totals half up\n\nTotals were floats.\n\n- now `Decimal`\n\nChecked: ")
        assert "Left: VAT is still a float." in described and "Greenloop-Attempt" not in described
        # the repair left no description, and what a program prints is no message
        assert (
            repair.splitlines()[0].startswith("fix: change value.txt to repair ")
            and "attempt" not in repair.split("\n")[0]
        )
        assert repair.rstrip().endswith("\nGreenloop-Attempt: 1")
        body = (await home.get(f"pulls/{session.pull_number}"))["body"]
        parts = ("What was asked", "What was done", "How it was checked", "What is left")
        places = [body.index(f"### {part}") for part in parts]
        assert places == sorted(places)
        for said in (
            "> round the *totals* and make",
            "- now `Decimal`",
            "12 passed",
            "VAT is still a float.",
            "for alice",
        ):
            assert said in body, body


async def test_a_subject_that_a_rule_refuses_gives_way_to_one_that_it_takes(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        wanted = {**PATTERN, "parameters": {"operator": "starts_with", "pattern": "Add a page"}}
        home.local.add_ruleset(REPOSITORY, "messages", ["~ALL"], [wanted], exclude=["refs/heads/main"])
        home.agent(
            f"{TELLS}\npathlib.Path(told).write_text({json.dumps(TOLD)!r})\npathlib.Path('a.txt').write_text('a')"
        )
        await asked(home, "round the totals")
        session = await home.ended()
        assert session.outcome == "no_checks", await home.describe()
        (message,) = await _messages(home, session.pull_number)
        assert message.startswith("Add a page (#1)\n\nTotals were floats.")
