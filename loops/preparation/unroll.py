"""Steps of a job in their order, composite actions of the repository among them, as commands and needs."""

import re
from collections.abc import Callable, Mapping
from typing import Any

from github.workflows.composite import Action, BadAction, read_action
from github.workflows.expressions import BadExpression, NotKnown, Scope, Unknown, as_text, truth
from github.workflows.workflow import BadWorkflow, StepSpec
from loops.preparation import actions, system
from loops.preparation.contexts import SETTABLE, Known
from loops.preparation.plan import Command, Lack, Missing, Need, Read
from loops.preparation.run_steps import title
from loops.preparation.toolchains import need

Json = dict[str, Any]
DEEPEST = 10
# of what stands in a command, the run itself can tell these
TOLD_LATER = re.compile(r"steps\.[^.]+\.outputs\.[^.]+|env\.\w+|github\.workspace|runner\.temp|runner\.tool_cache")
_LEFT = re.compile(r"\$\{\{ (.*?) \}\}")
_PROGRAMS = {"pwsh": "powershell", "python": "python", "node": "node"}
_OTHER_SHELLS = ("cmd", "powershell", "wsl-bash", "msys2")
Artifacts = Callable[[dict[str, str]], "tuple[list[Command], list[Need], list[Missing]]"]


class Unrolled:
    """Collects what steps come to. `defaults` are those of `run`, `read` has files of the repository, `ran` says which
    steps of the job were run and which skipped, as far as that is known."""

    def __init__(self, known: Known, read: Read, defaults: Json, artifacts: Artifacts, ran: Mapping[int, bool]) -> None:
        self._ran = ran
        self.commands: list[Command] = []
        self.needs: list[Need] = []
        self._known, self._read, self._defaults, self._artifacts = known, read, defaults, artifacts
        self.missing: list[Missing] = []

    def steps(
        self, specs: list[StepSpec], outer: Json, *, at: int | None = None, prefix: str = "", deep: int = 0
    ) -> None:
        """All steps of a job, or (`at`: the job's step) of a composite action used there. `outer`: the `env` around."""
        for index, spec in enumerate(specs):
            number = index if at is None else at
            before = list(self._known.missing)
            try:
                self._step(spec, outer, number, prefix, deep)
            except (BadExpression, BadWorkflow) as error:
                self.missing.append(Missing(Lack.EXPRESSION, f"{title(spec)}: {error}"))
            noted = [each for each in self._known.missing if each not in before]
            self.missing += [each for each in noted if each not in self.missing]

    def _step(self, spec: StepSpec, outer: Json, number: int, prefix: str, deep: int) -> None:
        known = self._known
        before = list(known.missing)
        env = {**outer, **_values(known.scope(outer), spec.env)}
        wanted = self._wanted(spec, known.scope(env), number if not prefix else None)
        if spec.uses is None or not wanted:
            # a secret in a condition, or of a step that is not run, is empty as it is for a fork
            known.forget(before)
        known.steps[spec.id] = {"outcome": "success", "conclusion": "success", "outputs": {}}
        if not wanted:
            known.steps[spec.id] = {"outcome": "skipped", "conclusion": "skipped", "outputs": {}}
        elif spec.uses is not None:
            known.forget(before)
            self._action(spec, env, number, prefix, deep)
        else:
            _values(known.scope(outer), spec.env)  # notes the secrets in it
            self._command(spec, env, number, prefix, known.scope(env).substitute(spec.run or ""))

    def _wanted(self, spec: StepSpec, scope: Scope, number: int | None) -> bool:
        """Whether the step is run: as the run had it, else by its `if:`; one that cannot be told counts as met."""
        if number is not None and number in self._ran:
            return self._ran[number]
        try:
            return scope.condition(spec.condition if spec.condition is not None else "success()")
        except NotKnown:
            return True

    def _command(self, spec: StepSpec, env: Json, number: int, prefix: str, run: str) -> None:
        scope = self._known.scope(env)
        shell = spec.shell or (self._defaults.get("shell") if not prefix else None)
        shell = None if shell is None else as_text(scope.value(shell))
        where = spec.directory or (self._defaults.get("working-directory") if not prefix else None) or "."
        command = Command(
            id=f"{prefix}{spec.id}",
            title=title(spec),
            run=run,
            step=number,
            shell=shell,
            directory=scope.substitute(str(where)),
            env={key: as_text(value) for key, value in env.items()},
            forgiven=spec.continue_on_error is not None and truth(scope.value(spec.continue_on_error)),
        )
        self._add(command)
        self._known.steps[spec.id]["outputs"] = Unknown(f"steps.{command.id}.outputs")
        self._known.may_set = self._known.may_set or SETTABLE in command.run

    def _add(self, command: Command) -> None:
        """A command with what it asks of the system."""
        needs, missing = system.asked(command.run)
        program = (command.shell or "bash").split()[0]
        if program in _OTHER_SHELLS:
            missing.append(Missing(Lack.SHELL, program))
        elif program in _PROGRAMS:
            needs.append(need(_PROGRAMS[program]))
        for text in (command.run, command.directory, *command.env.values()):
            left = (name for name in _LEFT.findall(text) if not TOLD_LATER.fullmatch(name))
            missing += [Missing(Lack.EXPRESSION, name) for name in left]
        self._take(needs, missing)
        self.commands.append(command)

    def _take(self, needs: list[Need], missing: list[Missing]) -> None:
        self.needs += [each for each in needs if each not in self.needs]
        self.missing += [each for each in missing if each not in self.missing]

    def _action(self, spec: StepSpec, env: Json, number: int, prefix: str, deep: int) -> None:
        uses = spec.uses or ""
        name = uses.partition("@")[0].lower()
        before = list(self._known.missing)
        scope = self._known.scope(env)
        values = {str(key).lower(): scope.value(value) for key, value in spec.inputs.items()}
        given = {key: as_text(value) for key, value in values.items()}
        if uses.startswith("./"):
            self._composite(spec, env, number, prefix, deep, values)
        elif name == "actions/checkout":
            self._checkout(spec, env, number, prefix, given)
            self._known.forget(before)
        elif name == "actions/upload-artifact":
            self._command(spec, env, number, prefix, keep(given))
            self._known.forget(before)
        elif name == "actions/download-artifact":
            self._fetch(spec, env, number, prefix, given)
        else:
            self._known_action(spec, env, number, prefix, given, before)

    def _known_action(
        self, spec: StepSpec, env: Json, number: int, prefix: str, given: dict[str, str], before: list[Missing]
    ) -> None:
        made = actions.effect(spec.uses or "", given)
        if not made.run:
            self._known.forget(before)  # nothing is done with a secret that it was given
        self._take(list(made.needs), list(made.missing))
        for index, script in enumerate(made.run):
            self._add(
                Command(  # noqa: S604  the shell of a step, not of a process
                    id=f"{prefix}{spec.id}" if not index else f"{prefix}{spec.id}-{index}",
                    title=title(spec),
                    run=script,
                    step=number,
                    shell="bash",
                    env={key: as_text(value) for key, value in env.items()},
                    forgiven=spec.continue_on_error is not None,
                )
            )
        self._known.steps[spec.id]["outputs"] = dict(made.outputs) or Unknown(f"outputs of {spec.uses}")

    def _checkout(self, spec: StepSpec, env: Json, number: int, prefix: str, given: dict[str, str]) -> None:
        """The checkout is there; another repository is cloned beside it, which goes as far as the network does."""
        other, path = given.get("repository", ""), given.get("path", "")
        mine = as_text(self._known.scope().evaluate("github.repository"))
        self._known.steps[spec.id]["outputs"] = {"commit": self._known.scope().evaluate("github.sha"), "ref": ""}
        if other and other.lower() != mine.lower():
            ref = f"--branch '{given['ref']}' " if given.get("ref") else ""
            script = f"git clone --depth 1 {ref}'https://github.com/{other}' '{path or other.rpartition('/')[2]}'"
            self._command(spec, env, number, prefix, script)
        elif path not in ("", "."):
            # the same commit, once more, where the steps after it look for it
            self._command(spec, env, number, prefix, f"git worktree add --detach --force '{path}' HEAD")

    def _fetch(self, spec: StepSpec, env: Json, number: int, prefix: str, given: dict[str, str]) -> None:
        if given.get("run-id") or given.get("repository"):
            self._take([], [Missing(Lack.ARTIFACT, f"{given.get('name') or 'all'} of another run")])
            return
        commands, needs, missing = self._artifacts(given)
        self._take(needs, missing)
        self.commands += [
            Command(each.id, each.title, each.run, number, each.shell, each.directory, each.env, each.forgiven)
            for each in commands
        ]
        self._command(spec, env, number, prefix, take(given))

    def _composite(self, spec: StepSpec, env: Json, number: int, prefix: str, deep: int, given: dict[str, Any]) -> None:
        known, uses = self._known, spec.uses or ""
        action = self._local(uses)
        if isinstance(action, Missing) or deep >= DEEPEST:
            self._take([], [action if isinstance(action, Missing) else Missing(Lack.ACTION, f"{uses}, too deep")])
            known.steps[spec.id]["outputs"] = Unknown(f"outputs of {uses}")
            return
        outer, inputs, mine, path = known.steps, known.inputs, known.steps[spec.id], known.action_path
        scope = known.scope(env)
        defaults = {key: scope.value(value) for key, value in action.inputs.items()}
        known.steps, known.inputs = {}, defaults | given
        known.action_path = f"${{{{ github.workspace }}}}/{uses.removeprefix('./')}"
        try:
            self.steps(action.steps, env, at=number, prefix=f"{prefix}{spec.id}-", deep=deep + 1)
            mine["outputs"] = {key: known.scope(env).value(value) for key, value in action.outputs.items()}
        except BadExpression:
            mine["outputs"] = Unknown(f"outputs of {uses}")
        finally:
            known.steps, known.inputs, known.action_path = outer, inputs, path

    def _local(self, uses: str) -> Action | Missing:
        folder = uses.partition("@")[0].removeprefix("./").strip("/")
        texts = (self._read(f"{folder}/{name}".lstrip("/")) for name in ("action.yml", "action.yaml"))
        text = next((each for each in texts if each is not None), None)
        if text is None:
            return Missing(Lack.FILE, f"{uses}/action.yml")
        try:
            return read_action(text, uses)
        except BadAction as error:
            return Missing(Lack.DOCKER if "docker" in str(error) else Lack.ACTION, str(error))


def _folder(name: str) -> str:
    """A name for a folder; what only the run can tell of an artifact's name is the same for who keeps and takes it."""
    return re.sub(r"[^A-Za-z0-9._-]+", "-", name)


def keep(given: dict[str, str]) -> str:
    """The script that stands for an upload: what it names, put where `take` looks for it."""
    name, paths = given.get("name") or "artifact", given.get("path", "")
    lines = [line.strip() for line in paths.splitlines() if line.strip() and not line.strip().startswith("!")]
    copy = 'for each in {}; do [ -d "$each" ] && cp -a "$each/." "$to" || cp -a "$each" "$to"; done'
    return "\n".join(
        [
            f'shopt -s globstar nullglob; to="$RUNNER_TEMP/artifacts/{_folder(name)}"; mkdir -p "$to"',
            *map(copy.format, lines),
        ]
    )


def take(given: dict[str, str]) -> str:
    """The script that stands for a download of what `keep` put there: one by name, else all of them."""
    name, to = given.get("name", ""), given.get("path") or "."
    source = f"$RUNNER_TEMP/artifacts/{_folder(name)}" if name else "$RUNNER_TEMP/artifacts"
    merged = given.get("merge-multiple", "").lower() == "true" and not name
    return f'mkdir -p "{to}"\n' + (f'cp -a "{source}"/*/. "{to}"' if merged else f'cp -a "{source}/." "{to}"')


def _values(scope: Scope, env: Json | str) -> Json:
    value = scope.value(env)
    if isinstance(value, Unknown):
        raise NotKnown(f"env is {value.name}")
    return {str(key): item for key, item in value.items()} if isinstance(value, dict) else {}


def _title(spec: StepSpec) -> str:
    return spec.name or f"Run {(spec.run or spec.uses or '').strip().splitlines()[0]}"
