"""No state of a commit in which our verdict is greener than GitHub's own rollup of it, but for what is excused by name.

The oracle below is written from GitHub's documentation and not from our code: which check runs, runs and statuses are
in a rollup, which of them pass, and which of them a rule requires.
"""

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import cast

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from github.checks.model import Check, Kind
from github.checks.state import Reported, assembled, reported, required_checks, snapshot
from github.checks.verdict import HeadState, Verdict, is_at_work, settle
from github.client.repository import RepositoryHandle
from github.repositories.config import Checks
from tests.github.checks.any_commit import (
    ACTIONS,
    BAD,
    OFF_TOPIC,
    OTHER,
    OWN,
    PASS,
    T0,
    WORLDS,
    GitHub,
    WorkflowRun,
    World,
    newest,
)


@dataclass(frozen=True)
class Context:
    """One line of the merge box."""

    kind: str
    id: int
    name: str
    app: int
    result: str  # "" while pending
    why: str = ""  # what excuses it by itself


def passed(run: WorkflowRun) -> bool:
    good = all(job.conclusion in PASS or job.forgiven for job in run.attempts[-1])
    return run.conclusion in PASS and good


def merge_box(world: World) -> list[Context]:
    box = []
    for run in world.runs:
        newer = [each for each in world.runs if each.id > run.id and each.workflow == run.workflow]
        overtaken = any(passed(each) and each.branch == run.branch for each in newer)
        lines = [("job", job.id, job.name, job.conclusion or "") for job in run.attempts[-1]]
        if run.conclusion not in PASS and not any(result not in PASS for *_, result in lines):
            lines.append(("workflow", run.id, "CI", run.conclusion or ""))
        for kind, id, name, result in lines:
            why = "forgiven" if run.conclusion in PASS else ""
            why = "off topic" if run.event in OFF_TOPIC else why
            why = "overtaken" if result == "cancelled" and overtaken and not why else why
            box.append(Context(kind, id, name, ACTIONS if kind == "job" else 0, result, why))
        if run.conclusion in BAD and not any(result in BAD for *_, result in lines):
            box.append(Context("workflow", run.id, "CI", 0, "failure", "off topic" if run.event in OFF_TOPIC else ""))
    latest = newest(world)
    box += [Context("check_run", check.id, check.name, OTHER, check.conclusion or "") for check in latest]
    if world.suite_says and world.app_runs and all(check.conclusion in PASS for check in world.app_runs):
        box.append(Context("suite", 999, "Other CI", OTHER, world.suite_says))
    contexts = {context: (number, state, app) for number, (context, state, app) in enumerate(world.statuses)}
    for name, (number, state, app) in contexts.items():
        box.append(Context("status", 5000 + number, name, app, "" if state == "pending" else state))
    return box


def look(world: World, rules: Checks, leave_optional: bool) -> HeadState:
    """The state, which is the same by whatever road GitHub was asked."""
    states = []
    for by_query in (True, False):
        github = cast(RepositoryHandle, GitHub(world, by_query=by_query))
        found = asyncio.run(snapshot(github, "sha", own_app_id=OWN, base="main"))
        states.append(settle(found, rules, now=T0 + world.elapsed, since=T0, leave_optional=leave_optional))
    by_graphql, by_rest = states
    assert in_order(by_graphql) == in_order(by_rest)
    return by_rest


def in_order(state: HeadState) -> HeadState:
    """The order in which GitHub lists things says nothing."""

    def key(check: Check) -> tuple[str, int, str]:
        return check.kind, check.id, check.name

    def ordered(checks: Sequence[Check]) -> tuple[Check, ...]:
        return tuple(sorted(checks, key=key))

    return replace(
        state,
        explanation="",
        red=ordered(state.red),
        running=ordered(state.running),
        green=ordered(state.green),
        awaiting=ordered(state.awaiting),
        cancelled=ordered(state.cancelled),
        excused=tuple(sorted(state.excused, key=lambda each: key(each.check))),
    )


def _identity(kind: str, id: int, name: str) -> tuple[str, int | str]:
    """A status is known by its context."""
    return kind, name if kind == "status" else id


OPTIONAL = st.sampled_from(["repair", "report", "ignore"])


@settings(max_examples=600, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORLDS, OPTIONAL, st.booleans())
def test_a_green_verdict_names_every_line_of_the_merge_box_that_is_not(
    world: World, optional: str, leave_optional: bool
) -> None:
    state = look(world, Checks.model_validate({"optional": optional, "status_idle_minutes": 30}), leave_optional)
    if state.verdict not in (Verdict.GREEN, Verdict.NONE):
        return
    box = merge_box(world)
    wanted = [*world.classic, *world.rules]
    named = {_identity(str(each.check.kind), each.check.id, each.check.name) for each in state.excused}
    for name, app in wanted:
        answers = [
            line
            for line in box
            if line.name == name and app in (0, line.app) and line.kind not in ("workflow", "suite")
        ]
        assert answers, f"{name} of {app} is required and never reported"
        assert all(line.result in PASS for line in answers), answers
    for line in box:
        if line.result in PASS:
            continue
        assert _identity(line.kind, line.id, line.name) in named, f"{line} is not green, and nobody is told"
        required = any(line.name == name and app in (0, line.app) for name, app in wanted)
        required = required and line.kind not in ("workflow", "suite")
        assert not required
        nobody_waits = line.kind == "status" and line.result == "" and world.elapsed >= 1800
        red = line.result in (*BAD, "error", "startup_failure")
        optional_line = bool(wanted) and (not red or optional != "repair" or leave_optional)
        assert line.why or nobody_waits or optional_line, f"{line} has no excuse"


@settings(max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORLDS)
def test_every_state_comes_to_an_end(world: World) -> None:
    world.elapsed = 8 * 3600
    state = look(world, Checks(), False)
    assert state.verdict is not Verdict.RUNNING
    assert state.explanation


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(WORLDS, OPTIONAL)
def test_a_job_that_is_under_way_says_without_its_run_what_it_says_with_it(world: World, optional: str) -> None:
    world.runs = [run for run in world.runs if run.event not in OFF_TOPIC]  # none sits on a pull request's head
    rules = Checks.model_validate({"optional": optional, "status_idle_minutes": 30})
    github = cast(RepositoryHandle, GitHub(world, by_query=True))

    async def asked(without_runs: bool) -> tuple[Reported, HeadState]:
        told = await reported(github, "sha", without_runs_at_work=without_runs)
        found = assembled(told, await required_checks(github, "main"), own_app_id=OWN)
        return told, settle(found, rules, now=T0 + world.elapsed, since=T0)

    less, state = asyncio.run(asked(True))
    if less.whole or not is_at_work(state):
        return
    _, whole = asyncio.run(asked(False))

    def said(checks: Sequence[Check]) -> set[tuple[int, str]]:
        """Runs apart: one of which no job has begun is a line of its own where runs are told."""
        return {(each.id, each.conclusion) for each in checks if each.kind is not Kind.WORKFLOW}

    assert whole.verdict is Verdict.RUNNING
    assert said(state.running) <= said(whole.running) and said(state.red) == said(whole.red)
