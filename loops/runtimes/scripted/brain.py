"""Who decides what the scripted model says next."""

import threading
from collections.abc import Mapping, Sequence
from typing import Protocol

from loops.runtimes.scripted.conversation import Conversation
from loops.runtimes.scripted.replies import Reply, Step

DONE = Reply("Nothing more to do.")

# Words of our own prompts by which a kind of turn is known.
KINDS: Mapping[str, tuple[str, ...]] = {
    "checks": ("checks failed on `", "check failed on `"),
    "issue": ("Resolve issue #",),
    "pull": ("Work on pull request #",),
    "review": ("reviewed pull request #",),
    "conflict": ("was merged into this branch and ",),
}


class Brain(Protocol):
    """Called for each request of a CLI, but not for its side calls."""

    def next(self, conversation: Conversation) -> Step:
        """What the model does now."""
        ...


class Script:
    """Steps in order, one a request, whatever is asked; when they are used up it says that it is done."""

    def __init__(self, *steps: Step) -> None:
        self._steps = list(steps)
        self._lock = threading.Lock()

    def next(self, conversation: Conversation) -> Step:
        """The next step."""
        with self._lock:
            return self._steps.pop(0) if self._steps else DONE


class ByPrompt:
    """A plan for each kind of prompt (see `KINDS`). Keeps no memory: the history says how far the plan has come, so a
    conversation that is killed, resumed or begun anew goes on rightly. The `attempt` of a plan's list is chosen by how
    many prompts of its kind the history holds; the last list serves for all that follow.
    """

    def __init__(self, plans: Mapping[str, Sequence[Sequence[Reply]]]) -> None:
        self._plans = plans

    def next(self, conversation: Conversation) -> Step:
        """The next reply of the plan for the latest prompt."""
        prompts = [(kind, at) for at, said in enumerate(conversation.said) if (kind := _kind(said.role, said.text))]
        if not prompts:
            return DONE
        kind, last = prompts[-1]
        plans = self._plans.get(kind, ())
        if not plans:
            return DONE
        plan = plans[min(sum(other == kind for other, _ in prompts), len(plans)) - 1]
        done = sum(1 for said in conversation.said[last + 1 :] if said.role == "tool")
        return plan[done] if done < len(plan) else DONE


def _kind(role: str, text: str) -> str | None:
    if role != "user":
        return None
    # By the place of the words: an issue may quote a prompt, but our own words come first.
    found = [(text.find(words), kind) for kind, phrases in KINDS.items() for words in phrases if words in text]
    return min(found)[1] if found else None
