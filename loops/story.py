"""The sticky comment: what a stranger reads to know what is going on and how to stop it. Pure."""

import html
from collections.abc import Sequence
from dataclasses import dataclass, field

OPEN = ("pending", "running", "waiting")
ROWS = 30
NOTE = 1500

HEADS = {
    "pending": "⏳ Waiting to start",
    "running": "🤖 Working",
    "waiting": "🔎 Waiting for the checks",
    "green": "✅ Done: all checks are green",
    "no_checks": "✅ Done: no checks ran on this branch",
    "no_changes": "💬 Done: there was nothing to change",
    "answered": "💬 Answered",
    "cancelled": "🛑 Stopped",
    "failed": "❌ Stopped without success",
}

REASONS = {
    "cap_reached": "All attempts are used up and checks are still red. A person has to look now; mention me to go on.",
    "no_progress": "The last attempts did not change what fails, so another one would not either.",
    "box_lost": "The box in which the agent ran was lost twice. Mention me with `retry` to try again.",
    "box_failed": "The agent's box does not come up. Whoever runs this service has to mend what is said below; then "
    "mention me with `retry`.",
    "push_refused": "GitHub refused the push. The reason is below; the work is kept until the session is deleted.",
    "credentials": "The provider refused the credentials of the profile in use. Mend the profile, then `retry`.",
    "checks_never_settled": "The checks did not come to an end in the time that is set for it.",
    "head_moved": "The fork's pull request has commits that nobody has allowed me to work on.",
    "fork_refused": "This pull request comes from a fork, and its commits are not brought into this repository.",
    "conflict": "The branch conflicts with its base, and GitHub starts no checks for it.",
    "limit_exceeded": "A limit was reached. The details say which one and how to raise it.",
    "agent_failed": "The agent itself failed. The details say how.",
    "fetch_failed": "The repository could not be fetched into the box.",
    "empty_repository": "The repository has no commit yet, so there is nothing to build on. Push a first commit.",
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
class Story:
    """A session as people see it. `attempt` counts from 1; 0 before the first one.

    `place` is the place in line of the turn that is next, `waits` what that turn waits for, in words.
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
    place: int | None = None
    waits: str = ""
    failing: tuple[str, ...] = ()
    explanation: str = ""
    answer: str = ""
    notes: tuple[str, ...] = field(default_factory=tuple)


def render(story: Story) -> str:
    """The comment's Markdown."""
    parts = [f"### {headline(story)}", _links(story)]
    if story.waits and story.status in OPEN:
        place = f"In line, place {story.place}. " if story.place else ""
        parts.append(f"⏳ {place}{_plain(story.waits)}")
    if story.reason and story.status == "failed":
        parts.append(_reason(story.reason))
    if story.answer and story.outcome in ("answered", "no_changes"):
        parts.append(_quoted(story.answer))
    if story.failing:
        named = ", ".join(f"`{_code(name)}`" for name in story.failing[:10])
        more = f" and {len(story.failing) - 10} more" if len(story.failing) > 10 else ""
        parts.append(f"**Red:** {named}{more}" + (f". {_plain(story.explanation)}" if story.explanation else ""))
    elif story.explanation and story.status in ("waiting", "failed"):
        parts.append(_plain(story.explanation))
    parts += [_clip(note) for note in story.notes]
    if story.turns:
        parts.append(_table(story))
    parts.append(_footer(story))
    return "\n\n".join(part for part in parts if part)


def headline(story: Story) -> str:
    """The state in one line."""
    if story.status == "pending" and story.place:
        return f"⏳ In line: place {story.place}"
    key = story.outcome if story.status == "completed" and story.outcome else story.status
    head = HEADS.get(key, key)
    if story.attempt and story.status in ("running", "pending"):
        return f"🔧 Repairing: attempt {story.attempt} of {story.cap}"
    if story.attempt and story.status == "waiting":
        return f"{head} (after attempt {story.attempt} of {story.cap})"
    return head


def _links(story: Story) -> str:
    links = [f"[Watch the session]({story.url})"]
    if story.pull_number:
        links.insert(0, f"Pull request [#{story.pull_number}]({story.pull_url})")
    if story.owner:
        links.append(f"in the box of {_plain(story.owner)}")
    return " · ".join(links)


def _reason(reason: str) -> str:
    code, _, detail = reason.partition(":")
    sentence = REASONS.get(code, "")
    shown = f"`{_code(code)}`" + (f": {_plain(detail.strip())}" if detail.strip() else "")
    return f"**Reason:** {shown}. {sentence}".rstrip()


def _table(story: Story) -> str:
    hidden = max(0, len(story.turns) - ROWS)
    rows = [
        "| turn | asked by | state | commit | files | tokens | cost |",
        "| --- | --- | --- | --- | --- | --- | --- |",
    ]
    if hidden:
        rows.append(f"| … | {hidden} earlier turns are on the session's page | | | | | |")
    for turn in story.turns[hidden:]:
        commit = f"[{turn.commit[:7]}]({story.repository_url}/commit/{turn.commit})" if turn.commit else ""
        cost = f"${turn.cost:.2f}" if turn.cost else ""
        cells = (
            str(turn.number),
            _plain(turn.asked),
            _plain(turn.state) + (f" ({_plain(turn.runtime)})" if turn.runtime else ""),
            commit,
            str(turn.files or ""),
            f"{turn.tokens:,}" if turn.tokens else "",
            cost,
        )
        rows.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    return "\n".join(rows)


def _footer(story: Story) -> str:
    name = f"@{story.handle}"
    if story.status in OPEN:
        return f"To stop, comment `{name} stop`. `{name} autofix off` ends repairs here, `{name} help` tells more."
    return f"Mention `{name}` with what to do next, or `{name} retry`."


def _quoted(text: str) -> str:
    return "\n".join(f"> {_plain(line)}" for line in text[:NOTE].splitlines())


def _clip(text: str) -> str:
    return text if len(text) <= NOTE else text[:NOTE] + " …"


def _code(text: str) -> str:
    return text.replace("`", "'").replace("\n", " ")[:200]


def _plain(text: str) -> str:
    """Text of others in our comment: no HTML, and nobody is mentioned by it."""
    return html.escape(text, quote=False).replace("@", "@\u200b")


def asked_by(trigger: str, login: str) -> str:
    """How the table names what started a turn."""
    return "red checks" if trigger == "checks" else f"{login or 'Greenloop'} ({trigger.replace('_', ' ')})"


def failing_names(checks: "dict[str, object] | None") -> Sequence[str]:
    """The names of the red checks in a stored checks state."""
    found = (checks or {}).get("failing")
    return [str(each.get("name")) for each in found if isinstance(each, dict)] if isinstance(found, list) else []
