"""What a turn says of its own work: as its agent described it, else made of its last message. Pure."""

import re
from dataclasses import dataclass

from loops.runtimes import registry
from loops.sessions.ask import RedChecks
from loops.sessions.ask_columns import ask_of
from loops.store.tables import Session, Turn

LONGEST = 72  # characters of a subject that is made of a message
READ = 500  # characters of a line that are looked at

_VERBS = {
    past: verb
    for verb, *pasts in (
        each.split()
        for each in (
            "add added", "adjust adjusted", "allow allowed", "avoid avoided", "bump bumped", "change changed",
            "clean cleaned", "correct corrected", "create created", "document documented", "drop dropped",
            "ensure ensured", "extend extended", "extract extracted", "fix fixed", "guard guarded", "handle handled",
            "implement implemented", "improve improved", "introduce introduced", "make made", "mend mended",
            "migrate migrated", "move moved", "prevent prevented", "refactor refactored", "remove removed",
            "rename renamed", "reorder reordered", "repair repaired", "replace replaced", "resolve resolved",
            "restore restored", "return returned", "revert reverted", "rewrite rewrote rewritten", "round rounded",
            "set set", "simplify simplified", "split split", "stop stopped", "support supported", "switch switched",
            "teach taught", "tighten tightened", "update updated", "use used", "validate validated", "write wrote",
        )
    )
    for past in (verb, *pasts)
}  # fmt: skip
_LEAD = re.compile(
    r"(?:(?:done|okay|ok|all done)[.!:,] +)?(?:i(?:['\u2019]ve| have)?|we(?:['\u2019]ve| have)?) +", re.I
)
_MARKS = re.compile(r"^[#>*+\-\s]+|[*_`]{1,3}(?=\S)|(?<=\S)[*_`]{1,3}|\[(?=[^\]]*\]\()|\]\([^)\s]*\)")
_END = re.compile(r"[.!?;:](?:\s|\Z)|, | so that | because | which |\Z")


@dataclass(frozen=True)
class WorkSummary:
    """`subject` is a commit's, `what` was done and why, how it was `checked`, and what is `left`: Markdown that an
    agent wrote, or empty."""

    subject: str
    what: str = ""
    checked: str = ""
    left: str = ""


def summary_of(session: Session, turn: Turn) -> WorkSummary:
    """Of a turn that has not ended, what it was asked for is all there is to say."""
    described = ((turn.result or {}).get("outcome") or {}).get("description")
    if isinstance(described, dict):
        return WorkSummary(**{name: str(described.get(name) or "") for name in WorkSummary.__dataclass_fields__})
    said = (turn.message or "").strip() if registry.answers(turn.runtime) else ""
    return WorkSummary(subject_in(said) or subject_asked_for(session, turn), said)


def subject_in(message: str) -> str:
    """A commit's subject, in the imperative, where the message's first line begins with what was done; else empty."""
    lines = [line[:READ] for line in message[: 20 * READ].splitlines() if line.strip()]
    first = _MARKS.sub("", lines[0]).strip() if lines and not lines[0].lstrip().startswith(("```", "~~~")) else ""
    line = _LEAD.sub("", first, count=1)
    word, _, rest = line.partition(" ")
    verb = _VERBS.get(word.lower())
    if verb is None or not rest:
        return ""
    end = _END.search(rest)
    subject = f"{verb.capitalize()} {rest[: end.start()] if end else rest}".rstrip()
    return subject if len(subject) <= LONGEST else ""


def subject_asked_for(session: Session, turn: Turn) -> str:
    """A commit's subject by what was asked for, whatever the agent said."""
    ask = ask_of(turn)
    if isinstance(ask.about, RedChecks):
        names = ", ".join(dict.fromkeys(str(check.get("name")) for check in ask.about.checks)) or "the red checks"
        files = [str(change["path"]) for change in (turn.result or {}).get("changes") or ()]
        more = f" and {len(files) - 1} more" if len(files) > 1 else ""
        return f"Change {files[0]}{more} to repair {names}" if files else f"Repair {names}"
    words = ask.instruction.strip().splitlines()
    title = session.title or (words[0] if words else "")
    return f"{title} (#{session.subject_number})" if session.subject_number else title
