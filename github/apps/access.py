"""Who may ask: by the permission API, never by `author_association`, which is wrong for private members."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from github.client.errors import NotFound
from github.client.repository import RepositoryHandle, quoted
from github.client.scopes import Scope


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


async def access_of(repository: RepositoryHandle, login: str, user_id: int = 0) -> Access:
    """The permission of `login` on `repository` as GitHub says it now; with `user_id`, only if that is the same person.

    It is asked each time: whoever lost a right a moment ago is not obeyed. An unknown login may do nothing; so may one
    that somebody else has taken over, unless `user_id` goes by another login now.
    """
    access = await _ask(repository, login)
    unsaid = access.user_id == 0 and access.role is not Role.NONE
    if not user_id or unsaid or access.user_id == user_id:
        return access
    renamed = await _login_of(repository, user_id)
    if renamed is not None and renamed.lower() != login.lower():
        access = await _ask(repository, renamed)
    return access if access.user_id == user_id else Access(user_id, Role.NONE, "none")


async def _login_of(repository: RepositoryHandle, user_id: int) -> str | None:
    """What the person is called now; None for a deleted account."""
    try:
        path = f"user/{user_id}"
        app, installation = repository.app, repository.installation_id
        return str((await app.as_installation(installation, (), Scope.READ, "GET", path)).json()["login"])
    except NotFound:
        return None


async def _ask(repository: RepositoryHandle, login: str) -> Access:
    try:
        return read_access(await repository.get(f"collaborators/{quoted(login)}/permission"))
    except NotFound:
        await repository.refresh_name()  # raises NotFound if it is the repository that is not there
        return Access(0, Role.NONE, "none")
