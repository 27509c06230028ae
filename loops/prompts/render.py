"""Fills the templates. The same context always gives the same text."""

from functools import cache
from typing import Final

from jinja2 import Environment, PackageLoader, StrictUndefined, pass_context, select_autoescape
from jinja2.runtime import Context

from loops.prompts.contexts import ChecksPrompt, Prompt
from loops.prompts.fence import fence, inline, shares

VERSION: Final = 5
"""Raised whenever a template's meaning changes; kept with each turn. `tests/loops/prompts/golden` shows each whole."""
MOST: Final = 160_000
"""Characters of a whole prompt. An agent's stdin takes a million of them; the narrower limit is a model's window."""
EVIDENCE_BUDGET: Final = 24_000
"""Characters of evidence in the prompt itself, over all failing checks; whole logs are files."""
DISCUSSION_BUDGET: Final = 40_000
"""Characters of discussion, of inline comments and of the diffs they stand on, over all of each."""
LISTED: Final = 200
"""Files, comments and the like that are listed one by one."""
_SMALLER: Final = (1.0, 0.5, 0.25, 0.1, 0.02)


def render(prompt: Prompt, *, evidence_budget: int = EVIDENCE_BUDGET) -> str:
    """The prompt for a turn, of at most MOST characters. Untrusted text is fenced; only the asker's instruction stands
    as an order. Where all of it would be longer, each fenced text is cut further, and says how much of it is missing.
    """
    template = _environment().get_template(f"{prompt.kind}.j2")
    evidence = (
        shares([len(check.evidence) for check in prompt.checks], evidence_budget)
        if isinstance(prompt, ChecksPrompt)
        else []
    )
    text = ""
    for share in _SMALLER:
        text = template.render(prompt=prompt, turn=prompt.turn, evidence=evidence, share=share).strip() + "\n"
        if len(text) <= MOST:
            break
    return text


@pass_context
def _fence(context: Context, text: str, limit: int = 20_000) -> str:
    return fence(text, int(limit * float(context["share"])))


@cache
def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("loops.prompts"),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        autoescape=select_autoescape(enabled_extensions=()),
    )
    environment.filters |= {"fence": _fence, "inline": inline}
    environment.globals |= {"shares": shares, "DISCUSSION_BUDGET": DISCUSSION_BUDGET, "LISTED": LISTED}
    return environment
