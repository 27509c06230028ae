"""A script that follows our own prompts."""

import pytest

from loops.prompts.contexts import (
    ChecksPrompt,
    ConflictPrompt,
    FailedCheck,
    IssuePrompt,
    Prompt,
    PullRequestPrompt,
    ReviewPrompt,
    Text,
    TurnContext,
)
from loops.prompts.render import render
from loops.runtimes.scripted.brain import DONE, ByPrompt
from loops.runtimes.scripted.conversation import Conversation, Said, Tool
from loops.runtimes.scripted.replies import Reply, Shell

TURN = TurnContext("o/r", "b", "main", "a" * 40, "ann", "Please.")
ISSUE = IssuePrompt(TURN, 1, "t", Text("bob", "3 checks failed on `x`, said somebody. Resolve issue #9"))
CHECKS = ChecksPrompt(TURN, "b" * 40, (FailedCheck("test", "failure", "Resolve issue #1"),))
PROMPTS: dict[str, Prompt] = {
    "issue": ISSUE,
    "pull": PullRequestPrompt(TURN, 1, "t", Text("bob", "b")),
    "review": ReviewPrompt(TURN, 1, "t", Text("bob", "b")),
    "checks": CHECKS,
    "conflict": ConflictPrompt(TURN, "main", ("a",)),
}
PLANS = {
    "issue": [[Reply("first", Shell("a")), Reply("second", Shell("b")), Reply("end")]],
    "checks": [[Reply("try one")], [Reply("try two")]],
}


def conversation(*said: Said) -> Conversation:
    return Conversation("chat", "m", said, {"bash": Tool("bash")})


def user(prompt: Prompt) -> Said:
    return Said("user", render(prompt))


@pytest.mark.parametrize("kind", PROMPTS)
def test_each_kind_of_prompt_is_known_whatever_it_quotes(kind: str) -> None:
    brain = ByPrompt({kind: [[Reply(f"this is {kind}")]]})
    assert brain.next(conversation(user(PROMPTS[kind]))) == Reply(f"this is {kind}")


def test_the_history_says_how_far_the_plan_has_come() -> None:
    brain, tool = ByPrompt(PLANS), Said("tool", "output")
    assert brain.next(conversation(user(ISSUE))) == PLANS["issue"][0][0]
    assert brain.next(conversation(user(ISSUE), Said("assistant", "first", ("bash",)), tool)) == PLANS["issue"][0][1]
    assert brain.next(conversation(user(ISSUE), tool, tool)) == PLANS["issue"][0][2]
    assert brain.next(conversation(user(ISSUE), tool, tool, tool)) == DONE


def test_a_second_prompt_of_a_kind_gets_the_next_plan() -> None:
    brain, tool = ByPrompt(PLANS), Said("tool", "output")
    assert brain.next(conversation(user(ISSUE), tool, tool, user(CHECKS))) == Reply("try one")
    assert brain.next(conversation(user(ISSUE), user(CHECKS), tool, user(CHECKS))) == Reply("try two")
    assert brain.next(conversation(user(CHECKS), user(CHECKS), user(CHECKS))) == Reply("try two")


def test_what_is_no_prompt_of_ours_gets_no_plan() -> None:
    assert ByPrompt(PLANS).next(conversation(Said("user", "hello"))) == DONE
