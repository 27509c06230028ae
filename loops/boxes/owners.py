"""Whose box is whose: the key of a box's owner, and the box's name."""

from dataclasses import dataclass

from k8s.boxes import box_name
from loops.options import BoxIsolation, LoopOptions
from loops.store.tables import Box, Session, Turn

SHARED = 0  # the person of a box that belongs to the installation itself


@dataclass(frozen=True)
class Owner:
    """Who a box is for. Of a `repository` or `session` that is None it is for all of the person's."""

    installation: int
    person: int | None
    repository: int | None = None
    session: int | None = None

    @property
    def key(self) -> str:
        """Turns of one key share a box."""
        person = f"{self.installation}/{self.person or SHARED}"
        if self.session is not None:
            return f"{person}/{self.session}"
        return person if self.repository is None else f"{person}/r{self.repository}"


def owner_of(options: LoopOptions, session: Session, person: int | None) -> Owner:
    """The owner of the box in which a turn of `person` (None: the installation) runs in this session."""
    isolation = options.box_isolation
    return Owner(
        session.installation_id,
        person,
        None if isolation == "person" else session.repository_id,
        session.id if isolation == "session" else None,
    )


def owner_key(options: LoopOptions, session: Session, turn: Turn) -> str:
    """The key of the box that the turn runs in."""
    return owner_of(options, session, turn.owner_id).key


def is_outdated(box: Box, isolation: BoxIsolation) -> bool:
    """Whether the box is somebody's in another way than boxes are now, so that no turn will ever take it again."""
    if box.owner_key is None:
        return False
    made_for: BoxIsolation = (
        "session" if box.session_id is not None else "person" if box.repository_id is None else "repository"
    )
    return made_for != isolation


def new_box(instance: str, owner: Owner, now: float) -> Box:
    """The row of the owner's box; its name is made from ids that never change."""
    ids = {"repository": owner.repository, "session": owner.session}
    box = blank(box_name(instance, owner.installation, owner.person or SHARED, **ids), now)
    give(box, owner)
    return box


def blank(name: str, now: float) -> Box:
    """The row of a box that is nobody's and has no token yet.

    Generations count on from the time: a box made again under its old name never gets a token that it had before.
    """
    return Box(name=name, token_hash="", token_at=now, generation=int(now), used_at=now, created_at=now)


def give(box: Box, owner: Owner) -> None:
    """Make `owner` the owner of `box`, which was nobody's."""
    box.owner_key = owner.key
    box.installation_id, box.person_id = owner.installation, owner.person
    box.repository_id, box.session_id = owner.repository, owner.session
