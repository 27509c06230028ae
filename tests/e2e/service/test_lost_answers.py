"""Each effect on GitHub fails once, before or after it was done: everything happens once all the same.

To the loop an answer that never came is a process that died right after the effect and before it could remember it.
"""

from pathlib import Path

import pytest

from tests.e2e.acts import RIGHT, push, runs
from tests.e2e.house import CHECK, house

EFFECTS = (
    ("POST", "*/reactions"),
    ("POST", "*/issues/*/comments"),
    ("PATCH", "*/issues/comments/*"),
    ("POST", "*/git/blobs"),
    ("POST", "*/git/trees"),
    ("POST", "*/git/commits"),
    ("POST", "*/git/refs"),
    ("PATCH", "*/git/refs/heads/*"),
    ("POST", "*/pulls"),
    ("POST", "*/check-runs"),
    ("PATCH", "*/check-runs/*"),
    ("POST", "*/rerun-failed-jobs"),
    ("POST", "*/comments/*/replies"),
    ("POST", "*/merges"),
)
NETWORK = 'echo "npm error code ECONNRESET"; echo "npm error network x"; exit 1'
FLAKY = "'test -e {mark} || (touch {mark}; {network}); {check}'"


@pytest.mark.parametrize("kind", ["error", "lost_answer"])
async def test_every_effect_fails_once_and_is_done_once(tmp_path: Path, kind: str) -> None:
    run = FLAKY.format(mark=tmp_path / "mark-$GITHUB_EVENT_NAME", network=NETWORK, check=CHECK)
    async with house(tmp_path, run=run) as home:
        home.agent(f"if 'failed on' in prompt: {RIGHT}\nelse: pathlib.Path('page.txt').write_text('page')")
        rules = [home.local.add_fault(kind, method=m, path=p, status=502, times=1) for m, p in EFFECTS]
        rules += [home.local.add_fault(kind, method="POST", path="*graphql", status=502, times=1)]
        number = await home.issue(body="@greenloop add a page")
        first = await home.ended()
        assert first.outcome == "green", await home.describe()
        home.agent("wait(); pathlib.Path('better.bin').write_bytes(bytes(9))")
        body = {
            "body": "@greenloop better",
            "path": "page.txt",
            "line": 1,
            "side": "RIGHT",
            "commit_id": first.head_sha,
        }
        rules += [home.local.add_fault(kind, method="POST", path="*graphql", status=502, times=1)]
        made = await home.post("alice", f"pulls/{first.pull_number}/comments", body)
        await home.handled("pull_request_review_comment")
        await runs(home)
        await push(home, "hers.txt", "hers", first.branch or "")
        home.let_go()
        session = await home.ended()
        assert [(rule.id, rule.method, rule.path) for rule in rules if rule.times] == []
        assert (session.outcome, [bool(turn.commit_sha) for turn in await home.turns()]) == ("green", [True] * 3)
        assert len(await home.bot_comments(number)) == 1
        assert len(await home.get("pulls?state=all")) == 1
        assert len(await home.get(f"pulls/{first.pull_number}/commits")) == 5  # with hers, and the merge of both
        answers = await home.get(f"pulls/{first.pull_number}/comments")
        assert [each.get("in_reply_to_id") for each in answers] == [None, made["id"]]
        store = home.local.store
        assert [thread.resolved for thread in store.threads] == [True]
        assert (await home.get(f"pulls/{first.pull_number}"))["draft"] is False
        ours = [run.suite.head_sha for run in store.check_runs if run.name == "Greenloop"]
        assert len(ours) == len(set(ours)) == 3
        assert sorted(run.attempt for run in store.runs) == [1] * 6 + [2] * 2
        assert len(await home.get(f"issues/{number}/comments")) == 1
