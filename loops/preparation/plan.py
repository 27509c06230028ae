"""The plan of a job: what a box has to bring, what is run in it, and what of the job cannot be had there."""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum

Read = Callable[[str], str | None]
"""The text of a file of the repository, by its path; None where there is no such file."""


class Bring(StrEnum):
    """Kinds of what a box has to bring."""

    TOOL = "tool"
    PACKAGES = "packages"
    SERVICE = "service"
    CONTAINER = "container"


@dataclass(frozen=True)
class Need:
    """Something that a box has to bring: a tool of a version (or of what `file` of the repository says), packages of
    the system, a service. `detail` is what else was asked for, such as a tool's components."""

    kind: Bring
    name: str
    version: str = ""
    file: str = ""
    detail: str = ""


class Lack(StrEnum):
    """Kinds of what no box has. The value says it in words, before the name."""

    ACTION = "an action without a replacement here:"
    ARTIFACT = "an artifact that no job of this workflow makes on Linux:"
    DOCKER = "Docker:"
    EXPRESSION = "a value that only GitHub knows:"
    FILE = "a file that is not in the repository:"
    HARDWARE = "hardware or a system that a box has not:"
    ROOT = "rights of the system's administrator:"
    RUNNER = "another runner than one of Linux:"
    SECRET = "the secret"  # noqa: S105  a word of English
    SERVICE = "a service that is not known here:"
    SHELL = "a shell of another system:"
    VARIABLE = "the variable of the repository's settings"
    WORKFLOW = "a workflow that cannot be read:"


@dataclass(frozen=True)
class Missing:
    """One thing that the job has and a box does not; `str()` says it in words."""

    kind: Lack
    name: str

    def __str__(self) -> str:
        return f"{self.kind.value} {self.name}"


@dataclass(frozen=True)
class Command:
    """A step that is run. `step` counts the steps of the job, from 0; several commands may come of one.

    `${{ steps.ID.outputs.NAME }}`, `${{ env.NAME }}`, `${{ github.workspace }}` and `${{ runner.temp }}` stand in its
    texts where only the run itself can tell them. `directory` is relative to the checkout, without `shell` it is
    `bash -e`, as GitHub has it.
    """

    id: str
    title: str
    run: str
    step: int
    shell: str | None = None
    directory: str = "."
    env: dict[str, str] = field(default_factory=dict)
    forgiven: bool = False


@dataclass(frozen=True)
class Plan:
    """What to do for one job with one row of its matrix. `env` holds for all commands, `missing` names what of the job
    is not in the plan: without any it is complete. `failed` is the step that failed in its run, the last one."""

    job: str
    name: str
    commands: tuple[Command, ...] = ()
    env: dict[str, str] = field(default_factory=dict)
    needs: tuple[Need, ...] = ()
    missing: tuple[Missing, ...] = ()
    failed: int | None = None

    @property
    def is_complete(self) -> bool:
        """Whether a box that brings all needs does what the job did."""
        return not self.missing

    def before(self, step: int) -> tuple[Command, ...]:
        """The commands of the steps before that one: what made the job ready for it."""
        return tuple(each for each in self.commands if each.step < step)

    def of(self, step: int) -> tuple[Command, ...]:
        """The commands of that step."""
        return tuple(each for each in self.commands if each.step == step)
