import pytest

from github.apps.access import Role, access_of, read_access
from github.client.errors import NotFound
from github.client.repository import RepositoryHandle
from tests.github.conftest import Spot


@pytest.mark.parametrize(
    ("permission", "role_name", "role", "may_write"),
    [
        ("admin", "admin", Role.ADMIN, True),
        ("write", "write", Role.WRITE, True),
        ("write", "maintain", Role.MAINTAIN, True),
        ("read", "triage", Role.TRIAGE, False),
        ("read", "read", Role.READ, False),
        ("none", "none", Role.NONE, False),
        ("write", "release-captain", Role.WRITE, True),
        ("read", "auditor", Role.READ, False),
        ("read", "maintain", Role.READ, False),
        ("write", "triage", Role.WRITE, True),
        ("none", "maintain", Role.NONE, False),
        (None, None, Role.NONE, False),
        ("superuser", "x", Role.NONE, False),
    ],
)
def test_roles_are_mapped_as_github_reports_them(
    permission: str | None, role_name: str | None, role: Role, may_write: bool
) -> None:
    access = read_access({"permission": permission, "role_name": role_name, "user": None})
    assert (access.role, access.may_write) == (role, may_write)


async def test_permissions_come_from_the_api(spot: Spot, repository: RepositoryHandle) -> None:
    for login, role in (("alice", "maintain"), ("bob", "triage")):
        spot.local.set_permission(spot.name, login, role)
    assert (await access_of(repository, "alice")).role is Role.MAINTAIN
    assert (await access_of(repository, "bob")).role is Role.TRIAGE
    assert (await access_of(repository, spot.owner)).role is Role.ADMIN


async def test_a_right_is_asked_of_github_each_time(spot: Spot, repository: RepositoryHandle) -> None:
    assert (await access_of(repository, "alice")).may_write
    spot.local.set_permission(spot.name, "alice", "read")
    assert not (await access_of(repository, "ALICE")).may_write
    spot.local.set_permission(spot.name, "alice", "write")
    assert (await access_of(repository, "alice")).may_write


async def test_an_unknown_person_may_do_nothing(repository: RepositoryHandle) -> None:
    assert (await access_of(repository, "nobody-of-that-name")).role is Role.NONE


async def test_a_login_that_another_person_took_over_may_do_nothing(spot: Spot, repository: RepositoryHandle) -> None:
    alice, bob = spot.local.user("alice"), spot.local.user("bob")
    assert (await access_of(repository, "alice", alice.id)).may_write
    assert not (await access_of(repository, "alice", 4711)).may_write
    assert not (await access_of(repository, "alice", bob.id)).may_write


async def test_a_person_who_goes_by_another_login_now_is_still_the_same(
    spot: Spot, repository: RepositoryHandle
) -> None:
    assert (await access_of(repository, "her-former-login", spot.local.user("alice").id)).may_write


async def test_a_repository_that_is_gone_is_not_taken_for_a_person_without_rights(repository: RepositoryHandle) -> None:
    gone = RepositoryHandle(repository.app, repository.installation_id, repository.id)
    gone.app.names.put(gone.id, "no/where", confirmed=False)
    assert (await access_of(gone, "alice")).may_write
    with pytest.raises(NotFound):
        await access_of(RepositoryHandle(repository.app, 4711, 1), "alice")
