"""What a session says of a head is what GitHub says of it; what does not count is named."""

from pathlib import Path

from tests.e2e.acts import RIGHT, asked, comment_says
from tests.e2e.house import REPOSITORY, house

FORGIVEN = """\
name: CI
on: push
jobs:
  test:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: test "$(cat value.txt)" = right
  nightly:
    runs-on: ubuntu-latest
    continue-on-error: true
    steps:
      - run: exit 1
"""
LINT = """\
name: Lint
on: push
jobs:
  lint:
    runs-on: ubuntu-latest
    steps:
      - run: echo "value.txt:1:1 E501 it is too right"; exit 1
"""


async def test_a_job_that_its_run_forgives_is_named_and_not_repaired(tmp_path: Path) -> None:
    async with house(tmp_path, files={".github/workflows/ci.yml": FORGIVEN}, run=None) as home:
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        session = await home.ended()
        comment = await comment_says(home, number, "all checks that count are green", "`nightly`", "continue-on-error")
        turns = await home.turns()
    assert (session.outcome, len(turns)) == ("green", 1), comment


async def test_a_red_check_that_nobody_requires_is_repaired_but_makes_no_session_fail(tmp_path: Path) -> None:
    async with house(tmp_path, files={".github/workflows/lint.yml": LINT}) as home:
        home.local.protect(REPOSITORY, "main", contexts=["test"])
        home.agent(f"print('tried') if 'failed on' in prompt else None; {RIGHT}")
        number = await asked(home, "make it right, all checks have to be green")
        session = await home.ended()
        await comment_says(home, number, "all checks that count are green", "`lint` failed, and nobody requires it")
        turns = await home.turns()
    assert (session.status, session.outcome, session.reason) == ("completed", "green", None)
    assert [turn.kind for turn in turns] == ["issue", "checks"]


async def test_a_red_check_that_nobody_requires_is_only_named_where_the_settings_say_so(tmp_path: Path) -> None:
    settings = {".github/greenloop.yml": "checks:\n  optional: report\n  settle_seconds: 1\n"}
    async with house(tmp_path, files={".github/workflows/lint.yml": LINT, **settings}) as home:
        home.local.protect(REPOSITORY, "main", contexts=["test"])
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        session = await home.ended()
        await comment_says(home, number, "`lint` failed, and nobody requires it")
        turns = await home.turns()
    assert (session.outcome, len(turns)) == ("green", 1)


async def test_a_host_whose_clock_is_far_behind_githubs_waits_no_longer(tmp_path: Path) -> None:
    async with house(tmp_path, settle_seconds=1) as home:
        home.local.hub.clock.set_offset(200)
        home.agent(RIGHT)
        await asked(home, "make it right")
        session = await home.ended()
        took = (session.completed_at or 0) - session.created_at
    assert session.outcome == "green"
    assert took < 100


DRAFTS = """\
name: Slow
on:
  pull_request:
    types: [opened, synchronize, ready_for_review]
jobs:
  slow:
    if: github.event.pull_request.draft == false
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - run: test "$(cat other.txt)" = right
"""


async def test_runs_that_begin_late_are_waited_for_where_the_workflow_files_promise_them(tmp_path: Path) -> None:
    async with house(tmp_path) as home:
        home.local.hub.faults.ci_delay(15)  # more than a busy machine takes from the push to the first look
        home.agent(RIGHT)
        number = await asked(home, "make it right")
        await comment_says(home, number, "which has to run and has not begun")
        session = await home.ended()
    assert session.outcome == "green"


async def test_a_job_that_is_skipped_in_a_draft_is_watched_once_the_pull_request_is_ready(tmp_path: Path) -> None:
    wanted = {".github/workflows/slow.yml": DRAFTS, "other.txt": "wrong"}
    async with house(tmp_path, files=wanted, run="exit 0") as home:
        repair = "pathlib.Path('other.txt').write_text('right')"
        home.agent(f"{repair} if 'failed on' in prompt else pathlib.Path('value.txt').write_text('right')")
        await asked(home, "make it right")
        session = await home.ended()
        turns = await home.turns()
        pull = await home.get(f"pulls/{session.pull_number}")
    assert (session.outcome, [turn.kind for turn in turns]) == ("green", ["issue", "checks"])
    assert not pull["draft"]
