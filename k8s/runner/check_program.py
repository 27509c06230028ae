#!/usr/bin/env python3
"""Run the check of this turn in the box, as often as you like.

It is what has to pass: the failed step of the check, or what the repository's settings name. Exit code 0: it passes.

    greenloop-check            run it; what it prints is shortened to what tells, all of it is in a file that is named
    greenloop-check --whole    the same, with everything that it prints
    greenloop-check --set-up   make the box ready again, as was done before you began
    greenloop-check --lay      put files of the commit, and those laid over it, in place (the box's own use)

Standard library only, and Python 3.9. What is to be run stands in `plan.json` beside this program.
"""

from __future__ import annotations

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
SHELLS = {
    "": "bash -e {0}",
    "bash": "bash --noprofile --norc -e -o pipefail {0}",
    "sh": "sh -e {0}",
    "python": "python3 {0}",
    "pwsh": "pwsh -command {0}",
}
FILES = ("GITHUB_ENV", "GITHUB_PATH", "GITHUB_OUTPUT", "GITHUB_STEP_SUMMARY", "GITHUB_STATE")
LATER = re.compile(r"\$\{\{ (steps\.([^.}]+)\.outputs\.([^ }]+)|env\.(\w+)|github\.workspace|runner\.\w+) \}\}")
TELLING = re.compile(r"error|fail|panic|assert|exception|traceback|expected|not found|undefined|warning:|^E  ", re.I)
SHOWN = 16_000  # bytes
FIRST, LAST = 20, 80  # lines that are shown in any case


class Box:
    """The checkout and what set-up steps have left for those after them."""

    def __init__(self, plan: dict[str, Any]) -> None:
        self.plan = plan
        self.checkout = Path(plan["checkout"])
        self.temp = HERE / "temp"
        self.temp.mkdir(mode=0o700, exist_ok=True)
        self.left = _json(HERE / "left.json") or _nothing()

    def set_up(self) -> int:
        """Make the box ready: 0, or the exit code of what failed, which stands before each check then."""
        self.left = _nothing()
        code = self.run(self.plan.get("setup") or [], sys.stdout)
        self.left["failed"] = code
        (HERE / "left.json").write_text(json.dumps(self.left))
        return code

    def run(self, commands: list[dict[str, Any]], out: Any) -> int:
        """Run commands until one fails that is not forgiven: its exit code, or 0."""
        for number, command in enumerate(commands):
            print(f"greenloop-check: {command.get('title') or command['run'].strip()[:80]}", file=out, flush=True)
            code = self._one(number, command, out)
            (HERE / "left.json").write_text(json.dumps(self.left))
            if code and not command.get("forgiven"):
                print(f"greenloop-check: exit code {code}", file=out, flush=True)
                return code
        return 0

    def _one(self, number: int, command: dict[str, Any], out: Any) -> int:
        shell = command.get("shell") or ""
        script = self.temp / f"step-{number}{'.py' if shell == 'python' else '.ps1' if shell == 'pwsh' else ''}"
        script.write_text(self._told(command["run"]) + "\n")
        template = SHELLS.get(shell, shell)
        argv = [part.replace("{0}", str(script)) for part in shlex.split(template)]
        files = {name: self.temp / f"{name.lower()}-{number}" for name in FILES}
        for path in files.values():
            path.write_text("")
        env = self._environment(command) | {name: str(path) for name, path in files.items()}
        folder = self.checkout / self._told(command.get("directory") or ".")
        if not folder.is_dir():
            print(f"greenloop-check: there is no folder {folder}", file=out, flush=True)
            return 1
        program = shutil.which(argv[0], path=env["PATH"])
        if program is None:
            print(f"greenloop-check: this box has no {argv[0]}", file=out, flush=True)
            return 127
        argv[0] = program
        done = subprocess.run(
            argv, cwd=folder, env=env, stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.STDOUT, check=False
        )
        self._take(str(command.get("id") or number), files)
        return done.returncode if done.returncode >= 0 else 128 - done.returncode

    def _environment(self, command: dict[str, Any]) -> dict[str, str]:
        env = dict(os.environ)
        env.update(CI="true", RUNNER_TEMP=str(self.temp), RUNNER_OS="Linux", GITHUB_WORKSPACE=str(self.checkout))
        for values in (self.plan.get("env") or {}, self.left["env"], command.get("env") or {}):
            env.update({name: self._told(value) for name, value in values.items()})
        env["PATH"] = ":".join([*reversed(self.left["path"]), env.get("PATH") or "/usr/bin:/bin"])
        return env

    def _told(self, text: str) -> str:
        """The text with what only the run could tell."""

        def one(found: re.Match[str]) -> str:
            name, step, output, variable = found.groups()
            if step:
                return str(self.left["outputs"].get(step, {}).get(output, ""))
            if variable:
                return str(self.left["env"].get(variable, ""))
            return str(self.checkout) if name == "github.workspace" else str(self.temp)

        return LATER.sub(one, text)

    def _take(self, step: str, files: dict[str, Path]) -> None:
        self.left["env"].update(_pairs(files["GITHUB_ENV"]))
        self.left["path"] += [line for line in _text(files["GITHUB_PATH"]).splitlines() if line]
        self.left["outputs"].setdefault(step, {}).update(_pairs(files["GITHUB_OUTPUT"]))

    def lay(self) -> int:
        """Files of the commit as they were, then those of the overlay."""
        restore = ["git", "-c", "core.hooksPath=/dev/null", "-C", str(self.checkout), "checkout", "--quiet", "--", "."]
        done = subprocess.run(restore, stdin=subprocess.DEVNULL, check=False)
        for index, each in enumerate(self.plan.get("overlay") or ()):
            spot = self.checkout / each["path"]
            if spot.is_symlink() or spot.exists():
                shutil.rmtree(spot) if spot.is_dir() and not spot.is_symlink() else spot.unlink()
            if each.get("sha") is None:
                continue
            content = HERE / "overlay" / str(index)
            spot.parent.mkdir(parents=True, exist_ok=True)
            if each["mode"] == "120000":
                spot.symlink_to(os.fsdecode(content.read_bytes()))
            else:
                shutil.copyfile(content, spot)
                spot.chmod(0o755 if each["mode"] == "100755" else 0o644)
        return done.returncode


def _nothing() -> dict[str, Any]:
    return {"env": {}, "path": [], "outputs": {}, "failed": 0}


def shortened(text: str) -> str:
    """What tells of a long output: its first and last lines, and between them those that speak of a failure."""
    lines = text.splitlines()
    kept = [n for n, line in enumerate(lines) if n < FIRST or n >= len(lines) - LAST or TELLING.search(line)]
    shown: list[str] = []
    size = 0
    for n in reversed(kept):  # what stands last tells most
        size += len(lines[n].encode(errors="replace")) + 9
        if size > SHOWN:
            break
        shown.append(f"{n + 1:6}| {lines[n]}")
    return "\n".join(reversed(shown))


def main(asked: list[str]) -> int:
    """The command line."""
    if {"-h", "--help"} & set(asked):
        print(__doc__)
        return 0
    if unknown := set(asked) - {"--whole", "--set-up", "--lay"}:
        print(f"greenloop-check: {sorted(unknown)[0]} is no option; --help lists them", file=sys.stderr)
        return 2
    box = Box(json.loads((HERE / "plan.json").read_text()))
    if "--lay" in asked:
        return box.lay()
    if "--set-up" in asked:
        return box.set_up()
    if "--whole" in asked:
        return box.run(box.plan["check"], sys.stdout)
    if code := box.left["failed"]:
        print(f"greenloop-check: the box was not made ready: its set-up failed with exit code {code}")
    whole = HERE / "output.log"
    with whole.open("w", encoding="utf-8", errors="replace") as out:
        code = box.run(box.plan["check"], out)
    print(shortened(_text(whole)))
    print(f"greenloop-check: {'it passes' if code == 0 else f'it fails, exit code {code}'}; all of it: {whole}")
    return code


def _pairs(path: Path) -> dict[str, str]:
    """Names and values: `name=value`, or `name<<END` … `END`."""
    found: dict[str, str] = {}
    lines = iter(_text(path).splitlines())
    for line in lines:
        block = re.fullmatch(r"([^=<]+)<<(.+)", line)
        if block:
            value = []
            for inner in lines:
                if inner == block[2]:
                    break
                value.append(inner)
            found[block[1]] = "\n".join(value)
        elif "=" in line:
            name, _, text = line.partition("=")
            found[name] = text
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text())
    except (OSError, ValueError):
        return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
