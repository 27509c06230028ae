"""Which events start which workflows."""

import pytest

from github.workflows import triggers
from github.workflows.triggers import Occasion
from github.workflows.workflow import BadWorkflow, read


@pytest.mark.parametrize(
    ("trigger", "starts"),
    [
        ("push", True),
        ("{push: {branches: ['b*']}}", True),
        ("{push: {branches: [main]}}", False),
        ("{push: {branches-ignore: ['b**']}}", False),
        ("{push: {paths: ['sub/**']}}", True),
        ("{push: {paths: ['docs/**']}}", False),
        ("{push: {paths-ignore: ['**']}}", False),
        ("{push: {tags: ['v*']}}", False),
        ("[pull_request]", False),
    ],
)
def test_filters_decide_whether_a_push_starts_a_workflow(trigger: str, starts: bool) -> None:
    spec = read(f"on: {trigger}\njobs: {{a: {{runs-on: ubuntu-latest, steps: [{{run: 'true'}}]}}}}", "ci.yml")
    occasion = Occasion("push", "refs/heads/b1", "b1", paths=["sub/x", ".github/workflows/ci.yml"])
    assert triggers.starts(spec, occasion) is starts


@pytest.mark.parametrize(
    ("trigger", "action", "starts"),
    [
        ("pull_request", "opened", True),
        ("pull_request", "ready_for_review", False),
        ("{pull_request: {types: [ready_for_review]}}", "ready_for_review", True),
        ("{pull_request: {branches: ['release/**', '!release/old']}}", "opened", False),
        ("push", "opened", False),
    ],
)
def test_types_and_base_branches_decide_for_pull_requests(trigger: str, action: str, starts: bool) -> None:
    spec = read(f"on: {trigger}\njobs: {{a: {{runs-on: ubuntu-latest, steps: [{{run: 'true'}}]}}}}", "ci.yml")
    assert triggers.starts(spec, Occasion("pull_request", "refs/pull/1/merge", "main", action=action)) is starts


@pytest.mark.parametrize(
    ("message", "skips"),
    [
        ("fix [skip ci]", True),
        ("fix\n\n[actions skip] please", True),
        ("fix\n\nskip-checks: true\n", True),
        ("skip ci", False),
        ("mention skip-checks: true in passing\n\nmore", False),
    ],
)
def test_words_of_the_head_commit_skip_everything(message: str, skips: bool) -> None:
    assert triggers.skips(message) is skips


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("on: push\njobs: {a: {steps: [}}", "error in your yaml syntax on line 2"),
        ("on: push", "jobs"),
        ("on: push\njobs: {a: {runs-on: ubuntu-latest}}", "steps"),
        ("on: push\njobs: {a: {runs-on: ubuntu-latest, steps: [{name: n}]}}", "every step must define"),
        ("on: push\njobs: {a: {runs-on: ubuntu-latest, needs: b, steps: [{run: a}]}}", "unknown job 'b'"),
        ("jobs: {a: {runs-on: ubuntu-latest, steps: [{run: a}]}}", "No event triggers"),
        ("- 1", "a mapping was expected"),
    ],
)
def test_a_bad_file_says_what_is_wrong(text: str, problem: str) -> None:
    with pytest.raises(BadWorkflow, match=problem):
        read(text, "ci.yml")
