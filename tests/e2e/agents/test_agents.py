"""Agents that do their work in their own way, do nothing, fail or do far too much: how the session ends."""

from pathlib import Path

from tests.e2e.acts import asked
from tests.e2e.house import house

COMMITS = """
pathlib.Path('value.txt').write_text('right')
for words in (['add', '-A'], ['-c', 'user.name=x', '-c', 'user.email=x@x', 'commit', '-qm', 'mine [skip ci]']):
    subprocess.run(['git', *words], check=True)
"""
FLOOD = "for n in range(10_000): pathlib.Path(f'f{n}').write_text('x')"
ENDS = (
    ("print('nothing to do')", "no_changes", ""),
    ("sys.exit('the model is unknown')", "agent_failed: exit code 1", "the model is unknown"),
    (FLOOD, "limit_exceeded: changed files", "10000 files changed; the limit is"),
)


async def test_what_comes_to_nothing_opens_no_pull_request_and_is_said(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        for count, (agent, end, words) in enumerate(ENDS, start=1):
            home.agent(agent)
            number = await asked(home, "make it right")
            session = await home.ended(sessions=count)
            assert (session.reason or session.outcome, session.pull_number) == (end, None)
            assert words in (await home.bot_comments(number))[0]
        assert [branch["name"] for branch in await home.get("branches")] == ["main"]


async def test_commits_of_the_agent_itself_make_no_difference(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        home.agent(COMMITS)
        await asked(home, "make it right")
        session = await home.ended()
        assert (session.outcome, len(await home.turns())) == ("green", 1)
        assert len(await home.get(f"pulls/{session.pull_number}/commits")) == 1


async def test_a_repository_without_workflows_ends_without_checks(tmp_path: Path) -> None:
    async with house(tmp_path, run=None) as home:
        home.agent("pathlib.Path('new.txt').write_text('y')")
        await asked(home, "add a file")
        assert (await home.ended()).outcome == "no_checks"
