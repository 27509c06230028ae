"""What "once more" repeats: the last task that somebody asked for, with its remarks, in the name of who asks now."""

from dataclasses import replace

from sqlalchemy import select
from sqlalchemy.ext.asyncio import AsyncSession

from loops.sessions.ask import Ask, Asker, RedChecks, ThreadText, TurnOptions
from loops.sessions.ask_columns import ask_of
from loops.store.states import Trigger
from loops.store.tables import Session, Turn

REPAIR = "Repair the failing checks."


async def last_asked(
    tx: AsyncSession, session_id: int, *, before: int | None = None, begun: bool = False
) -> Turn | None:
    """The last turn, before that number, that somebody asked for: no repair, and no resolving of a conflict, which are
    parts of such. `begun`: that ran, or does."""
    ours = (Trigger.CHECKS, Trigger.CONFLICT)
    query = select(Turn).where(Turn.session_id == session_id, Turn.trigger.not_in(ours))
    if before is not None:
        query = query.where(Turn.number < before)
    if begun:
        query = query.where(Turn.base_sha.is_not(None))
    return (await tx.execute(query.order_by(Turn.number.desc()).limit(1))).scalar_one_or_none()


async def repeated(tx: AsyncSession, session: Session | None, ask: Ask) -> Ask | None:
    """`ask` with the task that it repeats; None where there is none. What `ask` says itself is added to the task.

    Where only red checks ever began a turn, the task is to repair them.
    """
    if session is None:
        return None
    last = await last_asked(tx, session.id)
    if last is None:
        return await _repair(tx, session, ask)
    task = ask_of(last)
    said = "\n\n".join(filter(None, (task.instruction, ask.instruction)))
    return replace(ask, instruction=said, about=task.about, options=_merged(task.options, ask.options))


async def _repair(tx: AsyncSession, session: Session, ask: Ask) -> Ask | None:
    found = await tx.execute(select(Turn).where(Turn.session_id == session.id).order_by(Turn.number.desc()).limit(1))
    last = found.scalar_one_or_none()
    if last is None and session.trigger is not Trigger.CHECKS:
        return None
    about = ask.about if isinstance(ask.about, ThreadText) else ThreadText(title=session.title)
    return replace(ask, instruction="\n\n".join(filter(None, (REPAIR, ask.instruction))), about=about)


def _merged(task: TurnOptions, now: TurnOptions) -> TurnOptions:
    """The options of the task, but for those that were given anew."""
    names = ("runtime", "model", "base", "cap", "steps")
    return TurnOptions(**{name: getattr(now, name) or getattr(task, name) for name in names})


def repairs_of(last: Turn | None, about: RedChecks) -> Ask:
    """The request that red checks make by themselves, with the options of the task that they follow."""
    options = ask_of(last).options if last is not None else TurnOptions()
    return Ask(Trigger.CHECKS, Asker(), about, options=options)
