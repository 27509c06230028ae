"""What the guards look at, and what they say."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from github.repositories.config import RepositoryConfig
from k8s.runner.protocol import Change
from loops.secrets.redact import Redactor

ContentOf = Callable[[str], Awaitable[bytes]]
"""The content of a changed file by the sha of its blob."""

BaseOf = Callable[[str], Awaitable[bytes | None]]
"""The content of a path in the commit that the turn began from; None where there is no such file."""

Apart = Callable[..., Awaitable[Any]]
"""Runs a function with its arguments where it holds up nothing, and returns what it returns."""

SHOWN = 12


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was noticed. `text` is a sentence for people: it names the path and a way out, never a secret."""

    code: str
    path: str
    text: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class Findings:
    """With any `refusals` nothing of the turn may be published; `notes` belong into the comment either way."""

    refusals: tuple[Finding, ...] = ()
    notes: tuple[Finding, ...] = ()

    @property
    def publishable(self) -> bool:
        return not self.refusals


@dataclass(frozen=True)
class Proposal:
    """What a turn wants to publish, as its box reported it, and the rules that hold for its repository.

    `workflows_allowed`: whether the App may write workflow files. `repair`: the turn repairs red checks, so nobody
    asked for another behaviour. `redactor` knows the secrets that the turn was given. `env_files`: paths in the
    repository where secrets were written for the tests. `merges`: something was merged before the agent
    began, and may have left conflicts. `ran`: what the check in the box printed before the agent, and on
    what would be published. `merged`: when the turn merged somebody's commit, that
    commit's files, path -> (mode, sha); what is as it is there is their change, not the turn's. Sizes are in bytes.
    """

    changes: Sequence[Change]
    diff: str = field(default="", repr=False)
    config: RepositoryConfig = field(default_factory=RepositoryConfig)
    workflows_allowed: bool = True
    repair: bool = False
    redactor: Redactor = field(default_factory=Redactor)
    env_files: frozenset[str] = frozenset()
    merges: bool = False
    ran: tuple[str, str] | None = field(default=None, repr=False)
    merged: Mapping[str, tuple[str, str]] | None = None
    file_bytes: int = 5_000_000
    changed_bytes: int = 20_000_000

    def own(self) -> tuple[Change, ...]:
        """The changes that are the turn's own."""
        return tuple(change for change in self.changes if not self._theirs(change))

    def _theirs(self, change: Change) -> bool:
        if self.merged is None:
            return False
        left = change.old_path
        if left is not None and left in self.merged:
            return False
        there = self.merged.get(change.path)
        return there is None if change.sha is None else there == (change.mode, change.sha)


def shown(path: str) -> str:
    """`path` as inline code for a comment: no control characters, no backquote, not endless."""
    plain = path.encode("utf-8", "replace").decode("utf-8")
    plain = "".join(
        character if character.isprintable() and character != "`" else "\N{REPLACEMENT CHARACTER}"
        for character in plain
    )
    return f"`{plain if len(plain) <= 200 else plain[:120] + '…' + plain[-60:]}`"


def sentences(findings: Iterable[Finding], limit: int = SHOWN) -> list[str]:
    """The texts, each once; those over `limit` are counted only."""
    texts = list(dict.fromkeys(finding.text for finding in findings))
    rest = len(texts) - limit
    return texts if rest <= 0 else [*texts[:limit], f"And {rest} more of this kind."]
