"""Which conversation a request or a red commit belongs to."""

from dataclasses import dataclass

from sqlalchemy import ColumnElement, or_, select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.sessions.reasons import Outcome, Reason
from loops.store.locking import locked
from loops.store.states import OPEN_SESSION, PullState, SessionStatus, SubjectKind, Trigger
from loops.store.tables import Repository, Session

IN_VAIN = (Reason.CHECKS_NEVER_SETTLED, Reason.CHECKS_UNAPPROVED)
"""Why sessions end that waited for checks in vain."""


@dataclass(frozen=True)
class Topic:
    """What a conversation is about: an issue, a pull request or a red branch of one repository.

    `approved_sha` is set for a fork's pull request only: its head at the time of the command. `approves`: the command
    named that commit, and allows to work on it.
    """

    installation_id: int
    repository_id: int
    kind: SubjectKind
    number: int | None
    title: str
    base_branch: str | None = None
    branch: str | None = None
    head_sha: str | None = None
    pull_number: int | None = None
    own_branch: bool = True
    approved_sha: str | None = None
    approves: bool = False

    @property
    def pull_state(self) -> PullState | None:
        """The state of the pull request that it is about: it is open, or nobody could ask."""
        return PullState.OPEN if self.pull_number else None


async def lock(tx: AsyncSession, repository_id: int) -> None:
    """Let nobody else begin or change a conversation in this repository until the transaction ends."""
    await tx.execute(select(Repository.id).where(Repository.id == repository_id).with_for_update())


async def latest(tx: AsyncSession, topic: Topic) -> Session | None:
    """The conversation about this topic that can still go on: not one whose pull request is closed or merged, nor one
    of the account that the repository belonged to before it was transferred."""
    same: list[ColumnElement[bool]] = []
    if topic.number is not None:
        same.append((Session.subject_number == topic.number) & (Session.subject_kind != SubjectKind.BRANCH))
        same.append(Session.pull_number == topic.number)
        if topic.kind is SubjectKind.PULL and topic.branch is not None:
            # GitHub has the pull request, and the session that opens it has not yet heard which it is
            opening = Session.pull_number.is_(None) & Session.status.in_(OPEN_SESSION)
            same.append((Session.branch == topic.branch) & opening)
    else:
        same.append((Session.subject_kind == SubjectKind.BRANCH) & (Session.base_branch == topic.base_branch))
    found = await tx.execute(
        select(Session)
        .where(Session.repository_id == topic.repository_id, or_(*same))
        .where(Session.installation_id == topic.installation_id)
        .where(or_(Session.pull_state.is_(None), Session.pull_state == PullState.OPEN))
        .order_by(Session.id.desc())
        .limit(1)
    )
    return found.scalar_one_or_none()


def may_go_on_when_checks_come() -> ColumnElement[bool]:
    """Of ended sessions: any check that comes is news for them. What is made of it, `late_checks` says."""
    none_came = (Session.status == SessionStatus.COMPLETED) & (Session.outcome == Outcome.NO_CHECKS)
    return none_came | (Session.status == SessionStatus.FAILED) & Session.reason.in_(IN_VAIN)


async def asked_and_ended_well(tx: AsyncSession, repository_id: int, sha: str) -> Session | None:
    """The conversation that a person began and that ended with nothing red on its head `sha`, if its pull request can
    still change and repairs are not switched off there."""
    found = await tx.execute(
        select(Session)
        .where(Session.repository_id == repository_id, Session.head_sha == sha)
        .where(Session.status == SessionStatus.COMPLETED, Session.outcome.in_((Outcome.GREEN, Outcome.NO_CHECKS)))
        .where(Session.trigger != Trigger.CHECKS)
        .where(or_(Session.pull_state.is_(None), Session.pull_state == PullState.OPEN))
        .order_by(Session.id.desc())
        .limit(1)
    )
    session = found.scalar_one_or_none()
    return None if session is None or session.options.get("autofix") is False else session


async def waited_in_vain(tx: AsyncSession, repository_id: int, sha: str) -> Session | None:
    """The conversation that ended since the checks of its head `sha` did not come to an end, or were not approved, if
    its pull request can still change."""
    found = await tx.execute(
        select(Session)
        .where(Session.repository_id == repository_id, Session.head_sha == sha)
        .where(Session.status == SessionStatus.FAILED, Session.reason.in_(IN_VAIN))
        .where(or_(Session.pull_state.is_(None), Session.pull_state == PullState.OPEN))
        .order_by(Session.id.desc())
        .limit(1)
    )
    return found.scalar_one_or_none()


async def latest_to_change(tx: AsyncSession, topic: Topic) -> Session | None:
    """The same, locked."""
    session = await latest(tx, topic)
    return await locked(tx, Session, session.id) if session is not None else None
