"""One example of each kind of prompt, as whole as they come; `python -m tests.loops.prompts.examples` writes them down.

A change of a template shows in `golden/`. One that changes what an agent is told raises `VERSION` as well.
"""

from dataclasses import replace
from pathlib import Path

from loops.prompts.contexts import (
    ChecksPrompt,
    ConflictPrompt,
    Description,
    FailedCheck,
    Guidance,
    IssuePrompt,
    LeftWork,
    LogFile,
    Prompt,
    Protection,
    PullRequestPrompt,
    ReviewComment,
    ReviewPrompt,
    Text,
    TurnContext,
)
from loops.prompts.render import VERSION, render

GOLDEN = Path(__file__).with_name("golden")
TURN = TurnContext(
    repository="acme/shop",
    branch="greenloop/issue-7",
    base_branch="trunk",
    base_sha="a" * 40,
    asker="ann",
    instruction="Please mend the rounding.",
    guidance=(Guidance("AGENTS.md", "{turn_dir:m1}/guidance/AGENTS.md", 812),),
    rules="No new dependencies.",
    protection=Protection(paths=("infra/**",), freed=("AGENTS.md",)),
    env_file=".env",
    lfs=True,
    description=Description("{turn_dir:m1}/description.json", "{turn_dir:m1}/description.schema.json"),
)
CUT_SHORT = replace(
    TURN, left_work=LeftWork("{turn_dir:m1}/logs/unfinished.patch", 900, "The time was up", ("shop/total.py",), 2)
)
EXAMPLES: dict[str, Prompt] = {
    "issue": IssuePrompt(
        TURN,
        7,
        "Totals are off by a cent",
        Text("bob", "0.1 + 0.2 gives 0.30000000000000004.", "description"),
        (Text("eve", "Only with VAT.", "comment", "2026-11-01T09:00:00Z"),),
    ),
    "pull": PullRequestPrompt(CUT_SHORT, 8, "Round totals", Text("bob", "Uses `round`.", "description")),
    "review": ReviewPrompt(
        TURN,
        8,
        "Round totals",
        Text("eve", "Nearly there."),
        "changes_requested",
        (ReviewComment("eve", "Why not Decimal?", "shop/total.py", 3, "@@ -1,3 +1,3 @@\n-return a\n+return round(a)"),),
    ),
    "checks": ChecksPrompt(
        TURN,
        "b" * 40,
        (
            FailedCheck(
                "test (3.11)",
                "failure",
                "12| E   assert 1 == 2\n(lines 12 of 80)",
                "https://github.example/acme/shop/actions/runs/1/job/2",
                (LogFile("{turn_dir:m1}/logs/test-2.log", 9_000),),
                command="pytest -q",
                step="Run pytest -q",
                exit_code=1,
            ),
            FailedCheck("deploy", "timed_out", "", step="Deploy"),
            FailedCheck("external/scan", "failure", "2 findings"),
        ),
        attempt=2,
        number=8,
        earlier=(
            "Attempt 1 (commit cccccccccccc) changed shop/total.py: Rounded up. After it these were red: test (3.11): "
            "$ pytest -q  (exit code 1) | shop/test_total.py:3: assert 1 == 2",
        ),
        not_ours=("nightly",),
    ),
    "conflict": ConflictPrompt(TURN, "trunk", ("shop/total.py",), ("d" * 12 + " Use Decimal",)),
}


def golden(kind: str) -> Path:
    """Where the example of a kind is written down, under the version of the prompts."""
    return GOLDEN / f"{kind}.v{VERSION}.md"


if __name__ == "__main__":
    for former in GOLDEN.iterdir():
        former.unlink()
    for kind, prompt in EXAMPLES.items():
        golden(kind).write_text(render(prompt))
