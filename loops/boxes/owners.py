"""Whose box is whose: the key of a box's owner, and the box's name."""

from k8s.boxes import box_name
from loops.options import LoopOptions
from loops.store.tables import Box, Session

SHARED = 0  # the person of a box that belongs to the installation itself


def owner_key(options: LoopOptions, session: Session) -> str:
    """Sessions of one key share a box: those of a person in an installation, or (isolation by session) none."""
    person = f"{session.installation_id}/{session.owner_id or SHARED}"
    return person if options.box_isolation == "person" else f"{person}/{session.id}"


def new_box(options: LoopOptions, instance: str, session: Session, now: float) -> Box:
    """The row of a box that this session is the first to use; its name is made from ids that never change."""
    alone = session.id if options.box_isolation == "session" else None
    name = box_name(instance, session.installation_id, session.owner_id or SHARED, alone)
    box = blank(name, now)
    give(box, options, session)
    return box


def blank(name: str, now: float) -> Box:
    """The row of a box that is nobody's and has no token yet.

    Generations count on from the time: a box made again under its old name never gets a token that it had before.
    """
    return Box(name=name, token_hash="", token_at=now, generation=int(now), used_at=now, created_at=now)


def give(box: Box, options: LoopOptions, session: Session) -> None:
    """Make the session's owner the owner of `box`, which was nobody's."""
    box.owner_key = owner_key(options, session)
    box.installation_id, box.person_id = session.installation_id, session.owner_id
    box.session_id = session.id if options.box_isolation == "session" else None
