"""What a turn gets only at the moment a box takes it: the secrets of its account and of its repository's tests."""

import base64
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, get_args

from sqlalchemy import select

from loops.accounts import model_tokens
from loops.accounts.box_secrets import CannotPrepare
from loops.accounts.logins import is_newer
from loops.runtimes import registry
from loops.runtimes.base import BoxFile, Credential, CredentialKind, Invocation, Resume, TurnRequest
from loops.secrets import env_secrets, turn_secrets
from loops.secrets.env_file import env_file, quoted
from loops.secrets.token_hash import token_hash
from loops.secrets.turn_secrets import TurnSecrets
from loops.secrets.vault import Vault, VaultError
from loops.store.database import Database
from loops.store.locking import locked
from loops.store.tables import Profile, Turn


class TurnCredentials:
    """The secrets of turns, from encrypted accounts and env secrets. Makes `loops.accounts.box_secrets.Credentials`."""

    def __init__(self, database: Database, vault: Vault, clock: Callable[[], float] = time.time) -> None:
        self._database = database
        self._vault = vault
        self._clock = clock

    async def materialise(self, turn: Turn) -> tuple[Mapping[str, str], Sequence[Mapping[str, Any]]]:
        """The secret environment and the secret files; they are remembered with the turn. Raises CannotPrepare.

        Of an account that the model gateway uses, that is a new token of the turn: each hand-out ends the one before.
        """
        held, token, invocation = await self._invocation(turn)
        env = dict(invocation.secret_env) if invocation else {}
        files = [file for file in invocation.files if file.secret] if invocation else []
        named = await self._env_secrets(turn)
        if named and turn.spec is not None:
            files.append(env_file(turn.spec["workdir"], named, turn.spec["env_file"]["path"]))
        contents = (file.content.decode("utf-8", "replace") for file in files)
        values = [*env.values(), *contents, *named.values(), *(quoted(value)[1:-1] for value in named.values())]
        await self._remember(turn, lambda given: given.more(values, held=held), token)
        return env, [file_to_json(file) for file in files]

    async def secrets(self, turn: Turn) -> Sequence[str]:
        """Every value that must not be shown. Raises CannotPrepare."""
        given = self._given(turn)
        return (*given.values, *given.held)

    async def handed(self, turn: Turn) -> Sequence[str]:
        """Those of them that the box has. Raises CannotPrepare."""
        return self._given(turn).values

    async def read_back(self, turn: Turn, files: Mapping[str, bytes]) -> Sequence[str]:
        """A CLI refreshed its login: the new file is what the account holds from now on, unless that is newer yet.

        What the CLI wrote is as secret as what it was given; it is returned, and remembered with the turn.
        """
        given = self._given(turn)
        written = {path: content.decode("utf-8", "replace") for path, content in files.items() if content}
        async with self._database.write() as tx:
            found = await tx.execute(select(Profile).where(Profile.id == turn.profile_id).with_for_update())
            profile = found.scalar_one_or_none()
            credential = credential_of(profile, self._vault) if profile is not None else None
            invocation = self._command(turn, credential) if credential is not None else None
            if profile is not None and invocation is not None:
                logins = {file.path: file for file in invocation.files if file.secret and file.read_back}
                written = {path: left for path, left in written.items() if path in logins}
                for path, left in written.items():
                    untouched = logins[path].content.decode("utf-8", "replace") in given.values
                    if is_newer(left, self._vault.decrypt(profile.secret), untouched=untouched):
                        profile.secret, profile.updated_at = self._vault.encrypt(left), self._clock()
            # else the account was removed meanwhile, and which of the files are logins is not known
        values = tuple(written.values())
        await self._remember(turn, lambda given: given.more(values))
        return values

    async def lend(self, turn: Turn, token: str) -> None:
        """Remember a fetch token until it is returned."""
        await self._remember(turn, lambda given: given.more(token=token))

    async def returned(self, turn: Turn, token: str) -> None:
        """The token is revoked."""
        await self._remember(turn, lambda given: given.without(token))

    async def lent(self, turn: Turn) -> Sequence[str]:
        """The fetch tokens that nobody has revoked."""
        return self._given(turn).tokens

    def _given(self, turn: Turn) -> TurnSecrets:
        try:
            return turn_secrets.read(self._vault, turn)
        except VaultError as error:
            raise CannotPrepare(f"what turn {turn.public_id} was given cannot be read: {error}") from error

    async def _remember(
        self, turn: Turn, change: Callable[[TurnSecrets], TurnSecrets], token: str | None = None
    ) -> None:
        async with self._database.write() as tx:
            row = await locked(tx, Turn, turn.id)
            if token is not None:
                row.model_token = token_hash(token)
            before = self._given(row)
            after = change(before)
            if after != before:
                await turn_secrets.write(tx, self._vault, row, after)

    async def _invocation(self, turn: Turn) -> tuple[tuple[str, ...], str | None, Invocation | None]:
        """(secrets that stay here, the turn's token in their place, what is started)."""
        if turn.profile_id is None or turn.runtime is None:
            return (), None, None
        async with self._database.read() as tx:
            profile = await tx.get(Profile, turn.profile_id)
        if profile is None:
            raise CannotPrepare(f"the profile that turn {turn.public_id} uses was removed: mention me again")
        credential = credential_of(profile, self._vault)
        if not (turn.spec or {})["request"].get("relay"):
            return (), None, self._command(turn, credential)
        token = model_tokens.mint()
        held = (credential.secret,) if credential.secret else ()
        return held, token, self._command(turn, model_tokens.stand_in(credential.kind, token))

    def _command(self, turn: Turn, credential: Credential) -> Invocation:
        request = request_from_json((turn.spec or {})["request"], credential)
        return registry.get(turn.runtime or "").command(request)

    async def _env_secrets(self, turn: Turn) -> dict[str, str]:
        """The named secrets that the turn's repository asks for, as far as they are there."""
        wanted = (turn.spec or {}).get("env_file")
        if not wanted:
            return {}
        async with self._database.read() as tx:
            stored = await env_secrets.find(tx, turn.session_id, wanted["names"])
        try:
            return {name: self._vault.decrypt(value) for name, value in stored.items()}
        except VaultError as error:
            raise CannotPrepare(f"a secret for the repository's tests cannot be read: {error}") from error


def credential_of(profile: Profile, vault: Vault) -> Credential:
    """The profile's credential in the clear. Raises CannotPrepare when no key opens it."""
    try:
        return Credential(kind_of(profile), vault.decrypt(profile.secret))
    except VaultError as error:
        raise CannotPrepare(f"the secret of profile {profile.name!r} cannot be read: {error}") from error


def kind_of(profile: Profile) -> CredentialKind:
    """What the profile's secret is. Raises CannotPrepare for a row of another time or hand."""
    try:
        return kind_named(profile.credential_kind)
    except LookupError:
        raise CannotPrepare(
            f"profile {profile.name!r} holds a {profile.credential_kind!r}, which nobody can use"
        ) from None


def kind_named(name: str) -> CredentialKind:
    """The kind of credential `name`. Raises LookupError."""
    kinds: dict[str, CredentialKind] = {kind: kind for kind in get_args(CredentialKind)}
    return kinds[name]


def request_to_json(request: TurnRequest) -> dict[str, Any]:
    """A turn request as it is stored: without its credential."""
    resume = request.resume
    return {
        "prompt": request.prompt,
        "session": request.session,
        "model": request.model,
        "provider": request.provider,
        "base_url": request.base_url,
        "relay": request.relay,
        "resume": {"id": resume.id, "cwd": resume.cwd, "totals": dict(resume.totals)} if resume else None,
        "max_steps": request.max_steps,
        "max_cost": request.max_cost,
        "read_only": request.read_only,
        "program": request.program,
        "env": dict(request.env),
        # a release before knows no such field
        **({"images": list(request.images)} if request.images else {}),
    }


def request_from_json(stored: dict[str, Any], credential: Credential) -> TurnRequest:
    """The stored request with its credential."""
    resume = stored.get("resume")
    resumed = Resume(**resume) if resume else None
    images = tuple(stored.get("images") or ())
    return TurnRequest(**{**stored, "resume": resumed, "images": images, "credential": credential})


def file_to_json(file: BoxFile) -> dict[str, Any]:
    """A box file in the shape of the runner's protocol."""
    return {
        "path": file.path,
        "mode": file.mode,
        "content": base64.b64encode(file.content).decode(),
        "read_back": file.read_back,
    }
