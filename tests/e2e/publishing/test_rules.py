"""Rules of a repository that stand against our pushes are told before an agent is started."""

import asyncio
from pathlib import Path

from tests.e2e.acts import GROW, RIGHT, asked, push
from tests.e2e.house import REPOSITORY, house

NAMES = {"type": "branch_name_pattern", "parameters": {"operator": "starts_with", "pattern": "team/"}}
TITLES = ("🎉🎉🎉", "!!! ... ???", "x" * 256, "a..b @{u} ~^:?*[\\ c.lock", "[skip ci] Émile's `naïve` refs/heads/main")


async def test_a_rule_about_names_of_branches_costs_no_turn_and_who_may_bypass_it_is_not_bound(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        rules = home.local.add_ruleset(REPOSITORY, "names", ["~ALL"], [NAMES], exclude=["refs/heads/main"])
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        session = await home.ended()
        (turn,) = await home.turns()
        assert (session.reason, turn.handed_at, turn.box) == ("rules", None, None)
        comment = (await home.bot_comments(number))[0]
        assert "start with `team/`, and mine would be `greenloop/1-add-a-page`" in comment
        rules.bypass.append(home.local.app.id)
        await home.comment(number, "@greenloop retry")
        await home.handled("issue_comment", 2)
        assert (await home.ended()).outcome == "green"


async def test_under_required_signatures_a_branch_of_ours_is_pushed_to_again_and_again(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        rules = [{"type": "required_signatures"}, {"type": "non_fast_forward"}]
        home.local.add_ruleset(REPOSITORY, "signed", ["~ALL"], rules)
        home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: {GROW}")
        await asked(home, "make it right")
        assert ((await home.ended()).outcome, len(await home.turns())) == ("green", 2)


async def test_a_pull_request_from_a_protected_branch_is_left_alone_before_an_agent_is_started(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        main = (await home.get("git/ref/heads/main"))["object"]["sha"]
        await home.post("alice", "git/refs", {"ref": "refs/heads/release", "sha": main})
        await push(home, "more.txt", "x", "release")
        pull = await home.post("alice", "pulls", {"title": "Release", "head": "release", "base": "main"})
        home.local.protect(REPOSITORY, "release")
        await home.comment(pull["number"], "@greenloop make it right")
        session = await home.ended()
        assert (session.reason, [turn.handed_at for turn in await home.turns()]) == ("rules", [None])
        assert "'release'" in (await home.bot_comments(pull["number"]))[0]


async def test_branches_are_valid_whatever_the_title_holds_and_no_title_skips_the_checks(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        home.agent(RIGHT)
        numbers = [await home.issue(title) for title in TITLES]
        await asyncio.gather(*(home.comment(number, "@greenloop make it right") for number in numbers))
        await home.ended(sessions=len(TITLES))
        sessions = await home.sessions()
        assert [session.outcome for session in sessions] == ["green"] * len(TITLES), await home.describe()
        assert all((session.branch or "").startswith(f"greenloop/{session.subject_number}") for session in sessions)


async def test_a_workflow_file_is_not_published_where_the_app_may_not_though_the_repository_lets_it(
    tmp_path: Path,
) -> None:
    async with house(tmp_path, files={".github/greenloop.yml": "protected_paths: []\n"}) as home:
        assert all("workflows" not in each.permissions for each in home.local.store.installations)
        home.agent("pathlib.Path('.github/workflows/ci.yml').write_text('name: x')")
        number = await asked(home, "change the workflow")
        session = await home.ended()
        comment = (await home.bot_comments(number))[0]
        assert (session.reason, session.pull_number) == ("push_refused", None)
        assert ".github/workflows/ci.yml" in comment
        assert "workflows" in comment
