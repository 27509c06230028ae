"""Somebody else pushes during a turn, and it does not merge: one more turn, in which the other side is not our own."""

import base64
from pathlib import Path

from tests.e2e.house import House, house
from tests.walking import files

RULES = {".github/greenloop.yml": "limits: {files: 2}\n"}
FIRST = """
pathlib.Path('a.txt').write_text('ours')
pathlib.Path('value.txt').write_text('ours')
pathlib.Path('begun').touch()
subprocess.run(['git', 'rm', '-q', '--cached', 'begun'], stderr=subprocess.DEVNULL)
while pathlib.Path('begun').exists():
    time.sleep(0.05)
"""
RESOLVE = """
assert 'was merged into this branch' in prompt
assert '<<<<<<<' in pathlib.Path('value.txt').read_text()
pathlib.Path('value.txt').write_text('right')
pathlib.Path('c.txt').write_text('one more')
"""


async def push(home: House, branch: str, content: str) -> None:
    """Alice changes `value.txt` on the branch."""
    known = await home.get(f"contents/value.txt?ref={branch}")
    encoded = base64.b64encode(content.encode()).decode()
    body = {"message": "Mine", "content": encoded, "sha": known["sha"], "branch": branch}
    await home.post("alice", "contents/value.txt", body, method="PUT")


async def test_what_a_conflict_turn_merged_does_not_count_as_its_own(tmp_path: Path) -> None:
    async with house(tmp_path, files=RULES) as home:
        main = (await home.get("git/ref/heads/main"))["object"]["sha"]
        await home.post("alice", "git/refs", {"ref": "refs/heads/mine", "sha": main})
        await push(home, "mine", "wrong too")
        opened = await home.post("alice", "pulls", {"title": "Mine", "head": "mine", "base": "main"})
        home.agent(FIRST)
        await home.comment(opened["number"], "@greenloop make it right")

        async def begun() -> Path | None:
            return next(iter(files(home.settings.folder, "begun")), None)

        spot = await home.until(begun)
        await push(home, "mine", "theirs")
        home.agent(RESOLVE)
        spot.unlink()
        session = await home.ended()
        turns = await home.turns()
        assert [(turn.kind, turn.status) for turn in turns] == [("pull", "failed"), ("conflict", "done")], session.notes
        assert turns[1].changed_files == ["a.txt", "c.txt", "value.txt"]
        assert (session.status, session.outcome) == ("completed", "green")
        assert base64.b64decode((await home.get("contents/value.txt?ref=mine"))["content"]) == b"right"
