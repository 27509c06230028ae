"""Fills the templates. The same context always gives the same text."""

from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape

from loops.prompts.contexts import ChecksPrompt, Prompt
from loops.prompts.fence import fence, inline, shares

VERSION: Final = 3
"""Raised whenever a template's meaning changes; kept with each turn."""
EVIDENCE_BUDGET: Final = 24_000
"""Characters of evidence in the prompt itself, over all failing checks; whole logs are files."""
DISCUSSION_BUDGET: Final = 40_000
"""Characters of discussion, of inline comments and of the diffs they stand on, over all of each."""


def render(prompt: Prompt, *, evidence_budget: int = EVIDENCE_BUDGET) -> str:
    """The prompt for a turn. Untrusted text is fenced; only the asker's instruction stands as an order."""
    template = _environment().get_template(f"{prompt.kind}.j2")
    evidence = (
        shares([len(check.evidence) for check in prompt.checks], evidence_budget)
        if isinstance(prompt, ChecksPrompt)
        else []
    )
    return template.render(prompt=prompt, turn=prompt.turn, evidence=evidence).strip() + "\n"


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("loops.prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=select_autoescape(enabled_extensions=()),
    )
    environment.filters |= {"fence": fence, "inline": inline}
    environment.globals |= {"shares": shares, "DISCUSSION_BUDGET": DISCUSSION_BUDGET}
    return environment
