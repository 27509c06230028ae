"""What a pull request of ours, and a commit in it, says. Pure."""

from github.client.defuse import defused
from github.client.text import clip
from github.repositories.queries import Pull
from k8s.runner.protocol import Result
from loops.guards.model import shown
from loops.sessions.ask import RedChecks
from loops.sessions.ask_columns import ask_of
from loops.store.states import SubjectKind
from loops.store.tables import Session, Turn
from loops.turns.commit_style import CommitStyle, change_of, in_style
from loops.turns.verified import command_in, is_verified
from loops.turns.work_summary import WorkSummary, subject_asked_for, summary_of

ASKED, DONE, CHECKED, LEFT = 2_000, 8_000, 4_000, 4_000
"""Characters of each part of a description."""
NAMED = 20  # files that are named where nothing else is said


def pull_title(session: Session) -> str:
    """The title: that of the issue, in one line."""
    return " ".join(session.title.split())[:200] or "Work by Greenloop"


def closed_by(session: Session) -> int | None:
    """The issue that is done once the pull request is merged."""
    return session.subject_number if session.subject_kind is SubjectKind.ISSUE else None


def pull_body(
    session: Session, turn: Turn, result: Result, public_url: str, handle: str, *, fork: Pull | None = None
) -> str:
    """The description: what was asked, what was done and why, how it was checked, what is left, how to talk to us."""
    told = summary_of(session, turn)
    parts = []
    if number := closed_by(session):
        parts.append(f"Closes #{number}.")
    if fork is not None:
        parts.append(f"Goes on with #{fork.number} by {fork.author or 'a deleted account'}, from {fork.head_sha}.")
    parts += ["### What was asked", _asked(session, turn)]
    parts += ["### What was done", _said(told.what, DONE) or _changed(result)]
    parts += ["### How it was checked", _said(told.checked, CHECKED) or "The agent did not tell. The checks below do."]
    parts += ["### What is left", _left(told, result)]
    asked = ask_of(turn).asker.login
    by = f" for {asked}" if asked else ""
    parts.append(
        f"Made by [Greenloop]({public_url}/sessions/{session.public_id}){by}. It stays a draft until its checks are "
        f"green; red ones are repaired up to {session.cap} times. Mention `@{handle}` to go on, or `@{handle} stop`."
    )
    return "\n\n".join(parts)


def commit_subjects(session: Session, turn: Turn, style: CommitStyle) -> tuple[str, ...]:
    """The first line of a turn's commit, as this repository writes them; then those for where a rule refuses it."""
    asked = subject_asked_for(session, turn)
    found = (
        _styled(summary_of(session, turn).subject, session, turn, style),
        _styled(asked, session, turn, style),
        asked,
    )
    return tuple(dict.fromkeys(found))


def commit_body(session: Session, turn: Turn, result: Result) -> str:
    """What stands below it."""
    verified = f"Verified in the box: {command_in(turn)}" if is_verified(turn, result) else ""
    told = summary_of(session, turn)
    checked = f"Checked: {told.checked.strip()}" if told.checked.strip() else ""
    left = f"Left: {told.left.strip()}" if told.left.strip() else ""
    return "\n\n".join(part for part in (told.what.strip(), checked, verified, left) if part)


def attempt_of(turn: Turn) -> int | None:
    """Which repair of red checks the turn is, counted from 1."""
    about = ask_of(turn).about
    return about.attempt if isinstance(about, RedChecks) else None


def _styled(subject: str, session: Session, turn: Turn, style: CommitStyle) -> str:
    ask = ask_of(turn)
    paths = [str(change["path"]) for change in (turn.result or {}).get("changes") or ()]
    change = change_of(paths, f"{session.title} {ask.instruction}", repair=isinstance(ask.about, RedChecks))
    return in_style(subject, style, change, about=f"{ask.instruction} {session.title} {session.branch or ''}")


def _asked(session: Session, turn: Turn) -> str:
    ask = ask_of(turn)
    if isinstance(ask.about, RedChecks):
        names = ", ".join(dict.fromkeys(shown(str(check.get("name"))) for check in ask.about.checks))
        return f"Nothing in words: {names or 'checks'} failed on {ask.about.sha}."
    title = " ".join(session.title.split())
    words = "\n\n".join(part for part in (title, ask.instruction.strip()) if part)
    return "\n".join(f"> {line}".rstrip() for line in _said(words, ASKED).split("\n")) if words else "Nothing in words."


def _said(text: str, limit: int) -> str:
    """What somebody else wrote, so that it does nothing."""
    return defused(clip(text.strip(), limit, " …"))


def _changed(result: Result) -> str:
    paths = [shown(change.path) for change in result.changes]
    more = f" and {len(paths) - NAMED} more" if len(paths) > NAMED else ""
    return f"The agent did not tell. It changed {', '.join(paths[:NAMED])}{more}."


def _left(told: WorkSummary, result: Result) -> str:
    named = ", ".join(map(shown, result.left_out[:NAMED]))
    out = f"Left out of the commit: {named}." if named else ""
    return "\n\n".join(part for part in (_said(told.left, LEFT), out) if part) or "Nothing that the agent told of."
