"""The env file that a repository asks for: which of its secrets there are, and what is to be said of the others."""

from dataclasses import dataclass
from typing import Any

from github.repositories.config import PATH, RepositoryConfig
from loops.secrets import env_secrets
from loops.store.database import Database
from loops.store.tables import Session
from loops.turns.preparing.start import StartingPoint


@dataclass(frozen=True)
class Wanted:
    """The env file of a turn: `path` in the repository, `names` that are stored; `missing` ones that are not."""

    path: str
    names: tuple[str, ...]
    missing: tuple[str, ...] = ()
    withheld: bool = False

    def spec(self) -> dict[str, Any] | None:
        """As it is stored with the turn: names only, values are looked up when a box takes it. None without a file."""
        return {"path": self.path, "names": list(self.names)} if self.names else None

    def note(self, repository: str) -> str:
        """What people have to know; empty if nothing."""
        if self.withheld:
            return (
                f"The secrets of `env_secrets` in `{PATH}` are not given to the code of a fork: the turn runs without."
            )
        if not self.missing:
            return ""
        names = ", ".join(f"`{name}`" for name in self.missing)
        return (
            f"`env_secrets` in `{PATH}` asks for {names}, which nobody has stored, so the turn runs without. "
            f"Whoever runs this service can: `greenloop secret set {repository} {self.missing[0]} < value`."
        )


async def env_of(database: Database, session: Session, start: StartingPoint, repository: str) -> Wanted | None:
    """What the repository's settings on its default branch ask for; None if nothing. `repository` is its full name."""
    config = RepositoryConfig.model_validate(session.config or {})
    names = tuple(dict.fromkeys(config.env_secrets))
    if not names:
        return None
    if session.approved_sha is not None or start.ref.startswith("refs/pull/"):  # our branch holds its commits too
        return Wanted(config.env_file, (), withheld=True)
    async with database.read() as tx:
        stored = await env_secrets.find(tx, session.id, names)
    there = tuple(name for name in names if name in stored)
    return Wanted(config.env_file, there, tuple(name for name in names if name not in stored))
