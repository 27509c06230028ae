"""The sticky comment: what a stranger reads to know what is going on and how to stop it. Pure."""

import html
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from github.client.defuse import defused, defused_plain
from github.client.text import clip
from loops.checks.shown_evidence import RedCheck
from loops.prompts.fence import fence
from loops.sessions.explanations import code_of, detail_of, explain
from loops.sessions.reasons import Reason

ROWS = 30
NOTE = 1500
NOTES = 12
SHOWN_CHECKS = 8
EVIDENCE = 3500  # characters of one check's evidence
EXCUSED = 20
STEPS = 20  # of an agent's check list
OPEN = ("pending", "running", "waiting")

ENDS = {
    "green": "✅ Done: all checks are green",
    "green_but": "✅ Done: all checks that count are green",
    "no_checks": "✅ Done: no checks ran on this branch",
    "no_changes": "💬 Done: there was nothing to change",
    "answered": "💬 Answered",
    "cancelled": "🛑 Stopped",
    "failed": "❌ Stopped without success",
}

APPROVALS: Mapping[str, str] = {
    Reason.CHECKS_UNAPPROVED: "✋ A person has to approve checks",
    Reason.FORK_UNAPPROVED: "✋ A person has to approve a commit of a fork",
}

WORK = {
    "checks": "An agent repairs what is red.",
    "review": "An agent works on the review.",
    "conflict": "Somebody else pushed meanwhile, and it does not merge by itself: an agent brings both sides together.",
}


@dataclass(frozen=True)
class TurnLine:
    """One row of the table. `commit` is a full SHA; `tokens` all of them; `cost` US dollars, 0 if unknown."""

    number: int
    asked: str
    state: str
    runtime: str = ""
    commit: str | None = None
    files: int = 0
    tokens: int = 0
    cost: float = 0.0


@dataclass(frozen=True)
class StatusComment:
    """A session as people see it.

    `attempt` counts from 1; 0 before the first one. `active` is the status of the turn that is open, with its `kind`,
    what it waits for, in words (`spared`: its model's provider), and its place in line (0: it is in none). `checks` is
    a verdict of `github.checks.verdict`. `plan`: the steps of the agent at work, each with its state.
    """

    handle: str
    status: str
    outcome: str | None
    reason: str | None
    url: str
    repository_url: str
    turns: tuple[TurnLine, ...]
    attempt: int
    cap: int
    owner: str = ""
    pull_number: int | None = None
    pull_url: str = ""
    active: str | None = None
    kind: str = ""
    waits: str = ""
    spared: bool = False
    place: int = 0
    checks: str = ""
    autofix: bool = True
    stopping: str = ""
    failing: tuple[str, ...] = ()
    evidence: tuple[RedCheck, ...] = ()
    excused: tuple[str, ...] = ()
    explanation: str = ""
    answer: str = ""
    plan: tuple[tuple[str, str], ...] = ()
    notes: tuple[str, ...] = field(default_factory=tuple)


def render(comment: StatusComment) -> str:
    """Its Markdown, within GitHub's limit whatever it holds: what is said of stopping is never cut."""
    parts = [f"### {headline(comment)}", _links(comment), _what(comment), _plan(comment)]
    if comment.answer and comment.outcome in ("answered", "no_changes"):
        parts.append(_quoted(comment.answer))
    if comment.failing:
        named = ", ".join(f"`{_code(name)}`" for name in comment.failing[:10])
        more = f" and {len(comment.failing) - 10} more" if len(comment.failing) > 10 else ""
        parts.append(f"**Red:** {named}{more}")
        parts += [_folded(check) for check in comment.evidence[:SHOWN_CHECKS]]
    if comment.excused:
        more = f"\n- and {len(comment.excused) - EXCUSED} more" if len(comment.excused) > EXCUSED else ""
        listed = "\n".join(f"- {defused(each)}" for each in comment.excused[:EXCUSED])
        parts.append(f"**Not green, and not counted:**\n{listed}{more}")
    parts += [clip(defused(note), NOTE, " …") for note in _bounded(comment.notes)]
    if comment.turns:
        parts.append(_table(comment))
    parts.append(_footer(comment))
    return "\n\n".join(part for part in parts if part)


def headline(comment: StatusComment) -> str:
    """The state in one line."""
    attempt = f"attempt {comment.attempt} of {comment.cap}" if comment.attempt else ""
    if comment.status not in OPEN:
        if (code := code_of(comment.reason or "")) in APPROVALS:
            return APPROVALS[code]
        key = comment.outcome if comment.status == "completed" and comment.outcome else comment.status
        if key == "green" and comment.excused:
            key = "green_but"
        return f"{ENDS.get(key, key)} (after {attempt})" if attempt else ENDS.get(key, key)
    if comment.stopping:
        return "🛑 Stopping"
    if comment.active is None and comment.status == "waiting":
        heads = {
            "awaiting_approval": APPROVALS[Reason.CHECKS_UNAPPROVED],
            "cancelled": "✋ Checks have to run again",
        }
        head = heads.get(comment.checks, "🔎 Waiting for the checks")
        return f"{head} (after {attempt})" if attempt else head
    if comment.active == "queued":
        before = f" with {attempt}" if comment.kind == "checks" and attempt else ""
        if comment.place:
            return f"⏳ In line{before}: place {comment.place}"
        if comment.spared:
            return f"⏳ Waiting for the model's provider{before}"
        return f"⏳ Waiting for a box{before}" if comment.waits else f"⏳ About to start{before}"
    if comment.active == "ready":
        return f"⏳ About to repair: {attempt}" if comment.kind == "checks" and attempt else "⏳ About to start"
    if comment.kind == "checks" and attempt:
        return f"🔧 Repairing: {attempt}"
    return "📤 Publishing" if comment.active == "reported" else "🤖 Working" if comment.active else "⏳ About to start"


def _links(comment: StatusComment) -> str:
    links = [f"[Watch the session]({comment.url})"]
    if comment.pull_number:
        links.insert(0, f"Pull request [#{comment.pull_number}]({comment.pull_url})")
    if comment.owner:
        links.append(f"in the box of {defused(comment.owner[:100])}")
    elif comment.turns:
        links.append("in the installation's box")
    return " · ".join(links)


def _what(comment: StatusComment) -> str:
    """What is going on, and what comes next."""
    if comment.status == "failed":
        return _failure(comment)
    if comment.status == "cancelled":
        return _sentence(comment.reason or "")
    if comment.status == "completed":
        ends = {
            "green": f"Pull request #{comment.pull_number} is ready for a review by a person."
            if comment.pull_number
            else "",
            "no_checks": "Nothing but the agent has looked at this work: review it with care.",
            "no_changes": "Nothing was published.",
        }
        return ends.get(comment.outcome or "", "")
    if comment.stopping:
        return f"{_sentence(comment.stopping)} The agent is being ended, and nothing more is published."
    if comment.active is None:
        return _waiting(comment).strip() if comment.status == "waiting" else ""
    if comment.active in ("queued", "ready") or comment.waits:
        return f"{_sentence(comment.waits)} It goes on by itself." if comment.waits else "Its box is being made ready."
    return WORK.get(comment.kind, "An agent works on it.")


def _plan(comment: StatusComment) -> str:
    """The check list of the agent, a line a step."""
    if not comment.plan:
        return ""
    done = sum(state == "done" for _, state in comment.plan)
    more = f"\n- and {len(comment.plan) - STEPS} more" if len(comment.plan) > STEPS else ""
    lines = "\n".join(_step(text, state) for text, state in comment.plan[:STEPS])
    return f"**Its plan**, {done} of {len(comment.plan)} done:\n{lines}{more}"


def _step(text: str, state: str) -> str:
    said = defused(text.replace("`", "'"))
    shown = {"active": f"**now:** {said}", "dropped": f"dropped: {said}"}.get(state, said)
    return f"- [{'x' if state == 'done' else ' '}] {shown}"


def _waiting(comment: StatusComment) -> str:
    said = _sentence(comment.explanation)
    if comment.checks == "awaiting_approval":
        return f"{said} {explain(Reason.CHECKS_UNAPPROVED, comment.handle).next}"
    if comment.checks == "cancelled":
        return f"{said} Run it again on GitHub, and I go on by myself."
    left = comment.cap - comment.attempt
    if not comment.autofix:
        return f"{said} Repairs are switched off here (`@{comment.handle} autofix on`)."
    times = {0: "no attempt is left to repair it", 1: "I repair it once"}.get(left, f"I repair it up to {left} times")
    return f"{said} Should one turn red, {times}."


def _failure(comment: StatusComment) -> str:
    reason = comment.reason or Reason.AGENT_FAILED
    told = explain(reason, comment.handle)
    detail = f" ({defused(detail_of(reason))[:NOTE]})" if detail_of(reason) else ""
    return f"**Reason:** {told.what}{detail}\n\n**Next:** {told.next}"


def _table(comment: StatusComment) -> str:
    hidden = max(0, len(comment.turns) - ROWS)
    rows = [
        "| turn | asked by | state | commit | files | tokens | cost |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    if hidden:
        rows.append(f"| … | {hidden} earlier turns are on the session's page | | | | | |")
    for turn in comment.turns[hidden:]:
        commit = f"[{turn.commit[:7]}]({comment.repository_url}/commit/{turn.commit})" if turn.commit else ""
        cells = (
            str(turn.number),
            defused(turn.asked[:80]),
            defused(turn.state[:80]) + (f" ({defused(turn.runtime)})" if turn.runtime else ""),
            commit,
            str(turn.files or ""),
            *_spent(turn.tokens, turn.cost),
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    if len(comment.turns) > 1 and any(turn.tokens or turn.cost for turn in comment.turns):
        tokens, cost = sum(turn.tokens for turn in comment.turns), sum(turn.cost for turn in comment.turns)
        rows.append(f"| all | | | | | {' | '.join(_spent(tokens, cost))} |")
    return "\n".join(rows)


def _spent(tokens: int, cost: float) -> tuple[str, str]:
    return f"{tokens:,}" if tokens else "", f"${cost:.2f}" if cost else ""


def _footer(comment: StatusComment) -> str:
    name = f"@{comment.handle}"
    if comment.status in OPEN:
        return (
            f"**To stop**, comment `{name} stop`. Other words after `{name}` are one more task; "
            f"`{name} autofix off` ends repairs here; `{name} help` tells more."
        )
    return f"To go on, mention `{name}` with what to do next, or `{name} retry`."


def _folded(check: RedCheck) -> str:
    """Why a check is red, folded: the full log is a link away."""
    name = html.escape(defused_plain(_code(check.name)), quote=False)
    log = f"\n\n[Full log]({check.url})" if check.url.startswith(("https://", "http://")) else ""
    said = fence(check.brief, EVIDENCE)
    return f"<details><summary>Why {name} is red</summary>\n\n{said}{log}\n\n</details>"


def _bounded(notes: Sequence[str]) -> Sequence[str]:
    """The newest notes, and how many there were before them."""
    hidden = len(notes) - NOTES
    return notes if hidden <= 0 else (f"({hidden} earlier notes are on the session's page.)", *notes[hidden:])


def _sentence(text: str) -> str:
    return defused(f"{text[:1].upper()}{text[1:NOTE].rstrip('.')}.") if text else ""


def _quoted(text: str) -> str:
    return "\n".join(f"> {line}" for line in defused(clip(text, NOTE, " …")).split("\n"))


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")[:200]


def excused_lines(checks: "dict[str, object] | None") -> Sequence[str]:
    """The checks of a stored state that are not green and do not count, each with its reason."""
    found = (checks or {}).get("excused")
    lines = [f"`{_code(str(each.get('name')))}` {each.get('why')}" for each in found] if isinstance(found, list) else []
    return list(dict.fromkeys(lines))


def failing_names(checks: "dict[str, object] | None") -> Sequence[str]:
    """The names of the red checks in a stored checks state."""
    found = (checks or {}).get("failing")
    names = [str(each.get("name")) for each in found if isinstance(each, dict)] if isinstance(found, list) else []
    return list(dict.fromkeys(names))
