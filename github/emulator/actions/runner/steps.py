"""One step of a job: its shell, its environment, and what it leaves in its files."""

import json
import shlex
import shutil
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from github.workflows.expressions import as_text

Json = dict[str, Any]
_FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE")
# what each named shell runs; {0} is the script
_SHELLS = {
    "bash": "bash --noprofile --norc -e -o pipefail {0}",
    "sh": "sh -e {0}",
    "python": "python {0}",
    "python3": "python3 {0}",
}
_ENDINGS = {"python": ".py", "python3": ".py"}


class NoShell(Exception):
    """The shell a step names is not on this machine."""


@dataclass(frozen=True)
class Script:
    """`shown` is how the log names the shell."""

    argv: list[str]
    shown: str


def script(text: str, shell: str | None, folder: Path, name: str) -> Script:
    """Write a step's script and say how to run it. Without a shell it is `bash -e`, as on Linux runners."""
    template = "bash -e {0}" if shell is None else _SHELLS.get(shell, shell)
    if "{0}" not in template:
        raise NoShell("Invalid shell option. Shell must be a valid built-in or a format string containing '{0}'")
    file = folder / f"{name}{_ENDINGS.get(shell or '', '.sh')}"
    file.write_text(text + "\n")
    argv = [part.replace("{0}", str(file)) for part in shlex.split(template)]
    program = shutil.which(argv[0]) or (shutil.which("python3") if argv[0] == "python" else None)
    if program is None:
        raise NoShell(f"{argv[0]}: command not found")
    return Script([program, *argv[1:]], f"{program} {template.partition(' ')[2]}")


@dataclass
class StepFiles:
    """The files a step writes to speak to those after it."""

    folder: Path
    index: int
    paths: dict[str, Path] = field(default_factory=dict)

    def make(self) -> dict[str, str]:
        """Empty files, and the variables that name them."""
        for name in _FILES:
            path = self.folder / f"{name.lower()}_{self.index}"
            path.write_text("")
            self.paths[name] = path
        return {name: str(path) for name, path in self.paths.items()}

    def text(self, name: str) -> str:
        path = self.paths.get(name)
        return path.read_text(errors="replace") if path is not None and path.exists() else ""


def shown_lines(text: str, shell: str, env: Json) -> list[str]:
    """What the log's first group says: the script in cyan, the shell, the environment."""
    lines = [f"\x1b[36;1m{line}\x1b[0m" for line in text.rstrip("\n").split("\n")]
    lines.append(f"shell: {shell}")
    if env:
        lines.append("env:")
        lines += [f"  {key}: {as_text(value)}" for key, value in env.items()]
    return lines


def shown_inputs(inputs: Json) -> list[str]:
    """The same for an action."""
    if not inputs:
        return []
    return [
        "with:",
        *[f"  {key}: {value if isinstance(value, str) else json.dumps(value)}" for key, value in inputs.items()],
    ]
