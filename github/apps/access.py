"""Who may ask: by the permission API, never by `author_association`, which is wrong for private members."""

from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from github.client.clock import Clock
from github.client.errors import NotFound
from github.client.repository import RepositoryHandle, quoted

MAX_AGE = 60.0  # seconds
MAX_ENTRIES = 4096


class Role(IntEnum):
    """What a person may do, in order. Custom roles count as the base permission that GitHub reports for them."""

    NONE = 0
    READ = 1
    TRIAGE = 2
    WRITE = 3
    MAINTAIN = 4
    ADMIN = 5


@dataclass(frozen=True, slots=True)
class Access:
    """A person's permission on a repository. `role_name` is GitHub's own, also for custom roles."""

    user_id: int
    role: Role
    role_name: str

    @property
    def may_write(self) -> bool:
        """Whether they may push, and so may ask Greenloop to."""
        return self.role >= Role.WRITE


def read_access(answer: Mapping[str, Any]) -> Access:
    """The permission in an answer of `GET collaborators/{login}/permission`.

    `permission` is admin, write, read or none: `maintain` is reported as write and `triage` as read; their own names,
    and those of custom roles, stand in `role_name` only.
    """
    base = {"admin": Role.ADMIN, "write": Role.WRITE, "read": Role.READ}.get(str(answer.get("permission")), Role.NONE)
    name = str(answer.get("role_name") or answer.get("permission") or "none")
    named = {"triage": Role.TRIAGE, "maintain": Role.MAINTAIN}.get(name)
    role = named if named and base in (Role.READ, Role.WRITE) and _agrees(named, base) else base
    return Access(int((answer.get("user") or {}).get("id") or 0), role, name)


def _agrees(named: Role, base: Role) -> bool:
    return (named is Role.MAINTAIN) == (base is Role.WRITE)


class AccessBook:
    """Permissions, remembered for at most a minute."""

    def __init__(self, clock: Clock) -> None:
        self._clock = clock
        self._known: OrderedDict[tuple[int, str], tuple[float, Access]] = OrderedDict()

    async def of(self, repository: RepositoryHandle, login: str, user_id: int = 0) -> Access:
        """The permission of `login` on `repository`; with `user_id`, only if that is still the same person.

        An unknown login, and one that somebody else has taken over, may do nothing.
        """
        key = (repository.id, login.lower())
        at, access = self._known.get(key, (0.0, None))
        if access is None or not 0 <= self._clock.now() - at < MAX_AGE:
            access = await self._ask(repository, login)
            self._known[key] = (self._clock.now(), access)
            self._known.move_to_end(key)
            while len(self._known) > MAX_ENTRIES:
                self._known.popitem(last=False)
        if user_id and access.user_id and access.user_id != user_id:
            return Access(user_id, Role.NONE, "none")
        return access

    async def _ask(self, repository: RepositoryHandle, login: str) -> Access:
        try:
            return read_access(await repository.get(f"collaborators/{quoted(login)}/permission"))
        except NotFound:
            await repository.refresh_name()  # raises NotFound if it is the repository that is not there
            return Access(0, Role.NONE, "none")
