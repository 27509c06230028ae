"""What an agent must not publish does not reach GitHub, and people are told why."""

from pathlib import Path

from tests.e2e.house import House, house

TEST = "def test_value():\n    assert open('value.txt').read() == 'right'\n"
TOKEN = "'ghp_' + 'aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5'"


async def asked(home: House, agent: str) -> tuple[str, str, list[str]]:
    """One issue from the mention to its end: the session's status and reason, and what the comment says."""
    home.agent(agent)
    number = await home.issue()
    await home.comment(number, "@greenloop make it right")
    session = await home.ended(sessions=len(await home.sessions()) + 1)
    return session.status, session.reason or session.outcome or "", await home.bot_comments(number)


REFUSED = (
    (f"pathlib.Path('conf.py').write_text('T = \"' + {TOKEN} + '\"\\n')", ("`conf.py` line 1", "GitHub token")),
    ("pathlib.Path('.env').write_text('PASSWORD=x\\n')", ("`.env`", ".env.example")),
    ("pathlib.Path('.github/workflows/ci.yml').unlink()", ("`.github/workflows/ci.yml`", "protected")),
    ("pathlib.Path('test_value.py').unlink()", ("`test_value.py`", "test_guard")),
    ("pathlib.Path('out').symlink_to('/etc/passwd')", ("`out`", "symlink")),
)


async def test_a_refused_turn_publishes_nothing_and_says_why(tmp_path: Path) -> None:
    files = {"test_value.py": TEST, ".github/greenloop.yml": "test_guard: block\n"}
    async with house(tmp_path, files=files) as home:
        for agent, named in REFUSED:
            status, reason, comments = await asked(home, agent)
            assert (status, reason) == ("failed", "push_refused")
            assert all(word in comments[0] for word in named), comments[0]
            assert "aB3dE5fG7hJ9kL1mN3pQ5" not in comments[0]
        branches = [each["name"] for each in await home.get("branches")]
        assert branches == ["main"] and await home.get("pulls?state=all") == []


GUARDED = """
import unittest


class Value(unittest.TestCase):
    def test_value(self):
        self.assertEqual(open('value.txt').read(), 'right')

    def test_other(self):
        self.assertTrue(True)

    def test_third(self):
        self.assertIn(1, [1])
"""


async def test_under_warn_the_change_is_published_and_the_comment_names_what_became_weaker(tmp_path: Path) -> None:
    async with house(tmp_path, files={"test_value.py": GUARDED, "test_gone.py": TEST}) as home:
        agent = """
        pathlib.Path('value.txt').write_text('right')
        pathlib.Path('test_gone.py').unlink()
        test = pathlib.Path('test_value.py')
        text = test.read_text()
        text = text.replace("self.assertEqual(open('value.txt').read(), 'right')", "self.assertTrue(open('value.txt'))")
        text = text.replace("    def test_other", "    @unittest.skip('later')\\n    def test_other")
        test.write_text(text.partition("    def test_third")[0])
        """
        status, outcome, comments = await asked(home, agent)
        assert (status, outcome) == ("completed", "green")
        for words in ("`test_gone.py`", "`test_value.py`", "skip", "test_third", "assert"):
            assert words in comments[0], comments[0]
