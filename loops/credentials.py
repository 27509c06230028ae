"""What a turn gets only at the moment a box takes it: the secrets of its profile, never stored with the turn."""

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from loops.box_secrets import CannotPrepare
from loops.database import Database
from loops.runtimes import registry
from loops.runtimes.base import BoxFile, Credential, CredentialKind, Invocation, Resume, TurnRequest
from loops.tables import Profile, Turn
from loops.vault import Vault, VaultError


class ProfileCredentials:
    """The credentials of turns, from encrypted profiles. Makes `loops.box_secrets.Credentials`."""

    def __init__(self, database: Database, vault: Vault, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._vault = vault
        self._clock = clock

    async def materialise(self, turn: Turn) -> tuple[Mapping[str, str], Sequence[Mapping[str, Any]]]:
        """The secret environment and the secret files. Raises CannotPrepare."""
        invocation = await self._invocation(turn)
        if invocation is None:
            return {}, []
        return dict(invocation.secret_env), [file_to_json(file) for file in invocation.files if file.secret]

    async def secrets(self, turn: Turn) -> Sequence[str]:
        """Every value that must not be shown."""
        invocation = await self._invocation(turn)
        if invocation is None:
            return []
        files = [file.content.decode("utf-8", "replace") for file in invocation.files if file.secret]
        return [*invocation.secret_env.values(), *files]

    async def read_back(self, turn: Turn, files: Mapping[str, bytes]) -> None:
        """A CLI refreshed its login: the new file is what the profile holds from now on."""
        invocation = await self._invocation(turn)
        if invocation is None or turn.profile_id is None:
            return
        for file in invocation.files:
            if file.secret and file.read_back and files.get(file.path):
                secret = self._vault.encrypt(files[file.path].decode())
                async with self._database.write() as tx:
                    profile = await tx.get_one(Profile, turn.profile_id)
                    profile.secret, profile.updated_at = secret, self._clock()

    async def _invocation(self, turn: Turn) -> Invocation | None:
        if turn.profile_id is None or turn.runtime is None:
            return None
        async with self._database.read() as tx:
            profile = await tx.get(Profile, turn.profile_id)
        if profile is None:
            raise CannotPrepare(f"the profile that turn {turn.public_id} uses was removed: mention me again")
        request = request_from_json((turn.spec or {})["request"], credential_of(profile, self._vault))
        return registry.get(turn.runtime).command(request)


def credential_of(profile: Profile, vault: Vault) -> Credential:
    """The profile's credential in the clear. Raises CannotPrepare when no key opens it."""
    try:
        return Credential(kind_of(profile), vault.decrypt(profile.secret))
    except VaultError as error:
        raise CannotPrepare(f"the secret of profile {profile.name!r} cannot be read: {error}") from error


def kind_of(profile: Profile) -> CredentialKind:
    """What the profile's secret is. Raises CannotPrepare for a row of another time or hand."""
    kinds: dict[str, CredentialKind] = {kind: kind for kind in get_args(CredentialKind)}
    if profile.credential_kind not in kinds:
        raise CannotPrepare(f"profile {profile.name!r} holds a {profile.credential_kind!r}, which nobody can use")
    return kinds[profile.credential_kind]


def request_to_json(request: TurnRequest) -> dict[str, Any]:
    """A turn request as it is stored: without its credential."""
    resume = request.resume
    return {
        "prompt": request.prompt,
        "session": request.session,
        "model": request.model,
        "provider": request.provider,
        "base_url": request.base_url,
        "resume": {"id": resume.id, "cwd": resume.cwd, "totals": dict(resume.totals)} if resume else None,
        "max_steps": request.max_steps,
        "max_cost": request.max_cost,
        "read_only": request.read_only,
        "program": request.program,
        "env": dict(request.env),
    }


def request_from_json(stored: dict[str, Any], credential: Credential) -> TurnRequest:
    """The stored request with its credential."""
    resume = stored.get("resume")
    return TurnRequest(**{**stored, "resume": Resume(**resume) if resume else None, "credential": credential})


def file_to_json(file: BoxFile) -> dict[str, Any]:
    """A box file in the shape of the runner's protocol."""
    return {
        "path": file.path,
        "mode": file.mode,
        "content": base64.b64encode(file.content).decode(),
        "read_back": file.read_back,
        "keep": file.keep,
    }
