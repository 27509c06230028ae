"""Every prompt, whole, as an agent gets it."""

import pytest

from loops.prompts.render import render
from tests.loops.prompts.examples import EXAMPLES, GOLDEN, golden


@pytest.mark.parametrize("kind", EXAMPLES)
def test_a_prompt_is_word_for_word_what_is_written_down_under_its_version(kind: str) -> None:
    assert golden(kind).is_file(), "run `python -m tests.loops.prompts.examples`, and look at what changed"
    assert render(EXAMPLES[kind]) == golden(kind).read_text()


def test_no_prompt_is_written_down_that_nobody_is_given() -> None:
    assert {file.name for file in GOLDEN.iterdir()} == {golden(kind).name for kind in EXAMPLES}
