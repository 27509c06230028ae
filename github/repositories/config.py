"""A repository's own settings, `.github/greenloop.yml`, read from its default branch only.

The field descriptions below are the reference: they are exported to `greenloop.schema.json` for editors.
Reading the YAML itself, with its lines, is in `github.repositories.yamltext`.
"""

import difflib
import json
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from github.repositories.refs import branch_name
from github.repositories.yamltext import Node, Problem, read_yaml

PATH = ".github/greenloop.yml"
SCHEMA_ID = "https://json-schema.org/draft/2020-12/schema"


class _Section(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True, strict=True)


def _yaml_off(value: object) -> object:
    """YAML 1.1 reads a bare `off` as false."""
    return "off" if value is False else value


def _null_is_empty(value: object) -> object:
    """A section whose lines are all commented out."""
    return {} if value is None else value


def _one_is_a_list(value: object) -> object:
    """One command may stand by itself."""
    return [value] if isinstance(value, str) else value


OneIsAList = BeforeValidator(_one_is_a_list)
Script = Annotated[str, Field(min_length=1, max_length=10_000)]
NullIsEmpty = BeforeValidator(_null_is_empty)
OffIsAWord = BeforeValidator(_yaml_off)
Glob = Annotated[str, Field(min_length=1, max_length=256)]


class Autofix(_Section):
    """Which red checks Greenloop repairs without being asked."""

    pull_requests: Annotated[Literal["off", "ours", "labeled", "all"], OffIsAWord] = Field(
        default="ours",
        description="Pull requests watched: none, those that Greenloop opened, also those with the label, or all of "
        "this repository (never those from forks).",
    )
    authors: list[Glob] = Field(
        default=[], max_length=100, description="Only pull requests by these logins (globs); empty means anybody's."
    )
    default_branch: bool = Field(
        default=False, description="Whether a red default branch gets a fix branch and a pull request of its own."
    )

    after_others_push: Literal["installation", "wait"] = Field(
        default="installation",
        description="Whose a repair is once somebody else has pushed to the branch than who asked for the work: the "
        "installation's, in its box and on its account; or nobody's: it waits until somebody with write access asks.",
    )

    def author_matches(self, login: str) -> bool:
        """Whether pull requests by `login` are watched."""
        return not self.authors or any(fnmatchcase(login.lower(), glob.lower()) for glob in self.authors)


class Checks(_Section):
    """Which checks count, and when they have settled."""

    ignore: list[Glob] = Field(default=[], max_length=100, description="Globs of check names that are not looked at.")
    required_only: bool = Field(default=False, description="Whether only required checks count, even if there is none.")
    optional: Literal["repair", "report", "ignore"] = Field(
        default="repair",
        description="Where branch protection or rulesets require checks, what happens to a red one that they do not "
        "require: it is repaired, but cannot make a session fail; it is only named; or it is not looked at.",
    )
    reproduce: bool = Field(
        default=False,
        description="Whether a turn about a red check of GitHub Actions tries the step that failed in its box, before "
        "the agent begins and on what it would publish. `verify` takes its place.",
    )
    settle_seconds: int = Field(default=20, ge=0, le=600, description="Quiet time after the last report, in seconds.")
    longest_wait_minutes: int = Field(
        default=120,
        ge=1,
        le=1440,
        description="After this long without an end, what is missing is said and not waited for.",
    )
    late_minutes: int = Field(
        default=5,
        ge=0,
        le=120,
        description="How long after a push, or after its pull request stopped being a draft, what has to run for it "
        "may take to begin: workflows by their files, checks of other systems by what pull requests had before.",
    )
    status_idle_minutes: int = Field(
        default=30,
        ge=1,
        le=1440,
        description="A commit status that nobody requires is not waited for after being pending this long without a "
        "change, nor a job that waits so long for somebody to let it into its environment.",
    )


class LimitSettings(_Section):
    """What a session and its turns may use up. None means: the service's own limit."""

    attempts: int = Field(default=3, ge=0, le=50, description="Repairs that Greenloop starts by itself, per session.")
    files: int = Field(default=100, ge=1, le=3000, description="Changed files that may be published, per turn.")
    minutes: int = Field(default=30, ge=1, le=360, description="Wall clock of one turn.")
    steps: int | None = Field(default=None, ge=1, le=1000, description="Model calls of one turn.")
    tokens: int | None = Field(default=None, ge=1000, description="Input and output tokens, per session.")
    cost: float | None = Field(default=None, gt=0, description="US dollars, per session.")
    rounds: int = Field(
        default=3,
        ge=0,
        le=10,
        description="Times that an agent goes on in the same turn, without a push, because `verify` fails on its work. "
        "They share the minutes of one turn.",
    )
    verify_minutes: int = Field(
        default=15, ge=1, le=120, description="Wall clock of `setup`, and of `verify`, each time that they run."
    )


class RepositoryConfig(_Section):
    """Settings of one repository for Greenloop."""

    model_config = ConfigDict(extra="forbid", frozen=True, strict=True, title="Greenloop repository settings")

    runtime: str | None = Field(
        default=None,
        pattern=r"^[a-z][a-z0-9_-]{0,31}$",
        description="Agent to run: codex, opencode, claude, gemini, native or command.",
    )
    model: str | None = Field(default=None, min_length=1, max_length=128, description="Model, as the runtime names it.")
    label: str = Field(
        default="greenloop", min_length=1, max_length=50, description="Label that asks Greenloop to work."
    )
    autofix: Annotated[Autofix, NullIsEmpty] = Autofix()
    checks: Annotated[Checks, NullIsEmpty] = Checks()
    limits: Annotated[LimitSettings, NullIsEmpty] = LimitSettings()
    protected_paths: list[Glob] = Field(
        default=[".github/workflows/**"],
        max_length=200,
        description="Globs of paths that an agent's change may not touch, besides files that CI, GitHub, editors, "
        "package managers or agents find by name and obey. `!glob` lets agents change some of them, an empty list all.",
    )
    test_guard: Annotated[Literal["off", "warn", "block"], OffIsAWord] = Field(
        default="warn", description="What happens to deleted tests, added skips and loosened assertions."
    )
    branch_prefix: str = Field(default="greenloop/", max_length=64, description="How the names of our branches begin.")
    draft_until_green: bool = Field(
        default=True, description="Whether pull requests stay drafts until their checks are green."
    )
    setup: Annotated[list[Script], OneIsAList] = Field(
        default=[],
        max_length=20,
        description="Shell commands that make a fresh box ready for `verify`, before the agent begins and once more "
        "before its work is verified. What fails is told to the agent and in the comment; it ends no turn.",
    )
    verify: Annotated[list[Script], OneIsAList] = Field(
        default=[],
        max_length=20,
        description="Shell commands that have to pass before work is pushed. The box tries them before the agent "
        "begins, gives them to it as `greenloop-check`, and runs them again on just the files that would be published.",
    )
    instructions: str = Field(default="", max_length=20_000, description="Added to every prompt.")
    env_file: Annotated[str, Field(min_length=1, max_length=256)] = Field(
        default=".env", description="Where the env file with `env_secrets` is written, in the repository."
    )
    env_secrets: list[Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,127}$")]] = Field(
        default=[], max_length=50, description="Names of the secrets that the repository's tests get as an env file."
    )

    @field_validator("env_file")
    @classmethod
    def _env_file_is_inside(cls, path: str) -> str:
        parts = path.split("/")
        if any(part in ("", ".", "..") or part.lower() == ".git" for part in parts) or "\\" in path or "\0" in path:
            raise ValueError("it has to be a path inside the repository, such as `.env` or `tests/.env`")
        return path

    @field_validator("branch_prefix")
    @classmethod
    def _prefix_makes_branches(cls, prefix: str) -> str:
        if not prefix.strip("/"):
            raise ValueError("it is empty, so our branches could not be told from others")
        branch_name(prefix, 1, "x")
        return prefix


@dataclass(frozen=True, slots=True)
class Loaded:
    """The settings that hold. With `problems` they are the defaults, all of them: half a file is nobody's wish."""

    config: RepositoryConfig
    problems: tuple[Problem, ...] = ()


def load(text: str | bytes | None) -> Loaded:
    """The settings in `text`, the content of `.github/greenloop.yml`; None or an empty file gives the defaults."""
    node, problems = read_yaml(text or "")
    if problems:
        return Loaded(RepositoryConfig(), problems)
    if node is None or node.value is None:
        return Loaded(RepositoryConfig())
    if not isinstance(node.value, dict):
        return Loaded(RepositoryConfig(), (Problem(1, 1, "", "the file is no mapping of names to values"),))
    try:
        return Loaded(RepositoryConfig.model_validate(node.value))
    except ValidationError as error:
        found = (_problem(node, detail["loc"], detail["type"], detail["msg"]) for detail in error.errors())
        return Loaded(RepositoryConfig(), tuple(sorted(found, key=lambda each: (each.line, each.column))))


def schema() -> str:
    """The JSON Schema for editors, as it stands in `github/greenloop.schema.json`."""
    document: dict[str, Any] = {"$schema": SCHEMA_ID, **RepositoryConfig.model_json_schema()}
    return json.dumps(document, indent=2, ensure_ascii=False) + "\n"


def _problem(root: Node, location: tuple[int | str, ...], kind: str, message: str) -> Problem:
    line, column = root.mark(location)
    path = ".".join(str(part) for part in location)
    if kind == "extra_forbidden":
        known = _fields(location[:-1])
        near = difflib.get_close_matches(str(location[-1]), known, n=1)
        hint = f"did you mean `{near[0]}`?" if near else f"known are {', '.join(f'`{name}`' for name in known)}"
        return Problem(line, column, path, f"there is no such setting; {hint}")
    reason = (
        "it has to be a mapping of names to values" if kind == "model_type" else message.removeprefix("Value error, ")
    )
    return Problem(line, column, path, reason[:1].lower() + reason[1:])


def _fields(location: tuple[int | str, ...]) -> list[str]:
    model: type[BaseModel] = RepositoryConfig
    for part in location:
        found = model.model_fields[str(part)].annotation
        if isinstance(found, type) and issubclass(found, BaseModel):
            model = found
    return list(model.model_fields)


if __name__ == "__main__":
    print(schema(), end="")
