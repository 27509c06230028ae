"""What a pull request of ours, and a commit in it, says. Pure."""

from github.client.defuse import defused
from github.repositories.queries import Pull
from loops.runtimes import registry
from loops.sessions.ask import RedChecks
from loops.sessions.ask_columns import ask_of
from loops.store.states import SubjectKind
from loops.store.tables import Session, Turn


def pull_title(session: Session) -> str:
    """The title: that of the issue, in one line."""
    return " ".join(session.title.split())[:200] or "Work by Greenloop"


def closed_by(session: Session) -> int | None:
    """The issue that is done once the pull request is merged."""
    return session.subject_number if session.subject_kind is SubjectKind.ISSUE else None


def pull_body(session: Session, turn: Turn, public_url: str, handle: str, *, fork: Pull | None = None) -> str:
    """The description: what it is for, what the agent said, where to watch, how to talk to us."""
    parts = []
    if number := closed_by(session):
        parts.append(f"Closes #{number}.")
    if fork is not None:
        parts.append(f"Goes on with #{fork.number} by {fork.author or 'a deleted account'}, from {fork.head_sha}.")
    if turn.message and registry.answers(turn.runtime):
        parts.append(defused(turn.message.strip()[:4000]))
    asked = ask_of(turn).asker.login
    by = f" for {asked}" if asked else ""
    parts.append(
        f"Made by [Greenloop]({public_url}/sessions/{session.public_id}){by}. It stays a draft until its checks are "
        f"green; red ones are repaired up to {session.cap} times. Mention `@{handle}` to go on, or `@{handle} stop`."
    )
    return "\n\n".join(parts)


def commit_subject(session: Session, turn: Turn) -> str:
    """The first line of a turn's commit."""
    number = session.subject_number
    ask = ask_of(turn)
    if isinstance(ask.about, RedChecks):
        return f"Repair the failing checks (attempt {ask.about.attempt})"
    words = ask.instruction.strip().splitlines()
    title = session.title or (words[0] if words else "")
    return f"{title} (#{number})" if number else title
