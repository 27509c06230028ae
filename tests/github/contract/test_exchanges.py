"""What is known of GitHub holds for the GitHub that is asked: the local one, or a real one (`make test-github`)."""

import pytest

from tests.github.contract.exchange import Story
from tests.github.contract.facts import stories
from tests.github.contract.target import Target

TOLD = [(story, caller) for story in stories() for caller in story.callers]


@pytest.mark.parametrize(("story", "caller"), TOLD, ids=[f"{story.name}, as {caller}" for story, caller in TOLD])
def test_an_exchange_is_answered_as_github_does(target: Target, story: Story, caller: str) -> None:
    if caller not in target.tokens:
        pytest.skip(f"this story takes the token of a {caller}")
    if target.real and all(exchange.local for exchange in story.exchanges):
        pytest.skip(f"not for a real GitHub: {story.exchanges[0].local}")
    target.tell(story, caller)
