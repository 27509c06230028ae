"""What expressions of a job see while its plan is made: what is known beforehand, and names for the rest."""

from collections.abc import Iterable, Mapping
from typing import Any

from github.workflows.expressions import Function, Open, Scope, Unknown, as_text
from loops.preparation.plan import Lack, Missing

Json = dict[str, Any]
SETTABLE = "GITHUB_ENV"


class Known:
    """The contexts of one job, and what of them was used and is not to be had (`missing`).

    `github` is what is known of the run. A variable of `env` that the file does not set is empty, until a step could
    have set it (`may_set`).
    """

    def __init__(self, github: Json, row: Json, strategy: Json, inputs: Json, secrets: Json) -> None:
        self.missing: list[Missing] = []
        self.env: Json = {}
        self.steps: Json = {}
        self.inputs = inputs
        self.may_set = False
        self.action_path: Any = None
        self._github = {name.lower(): value for name, value in github.items()}
        self._row, self._strategy, self._secrets = row, strategy, secrets

    def scope(self, env: Mapping[str, Any] | None = None) -> Scope:
        """What an expression sees now, with the `env` of its step."""
        contexts = {
            "github": Open(self._github_value, self._github),
            "env": Open(lambda name: self._variable(name, env or {})),
            "matrix": self._row,
            "strategy": self._strategy,
            "inputs": self.inputs,
            "steps": self.steps,
            "secrets": Open(self._secret),
            "vars": Open(self._setting),
            "needs": Unknown("needs"),
            "job": {"status": "success", "services": Open(_service), "container": {}},
            "runner": {
                "os": "Linux", "arch": "X64", "name": "box", "environment": "self-hosted", "debug": "",
                "temp": Unknown("runner.temp"), "tool_cache": Unknown("runner.tool_cache"), "workspace": "",
            },
        }  # fmt: skip
        functions: dict[str, Function] = {
            "success": lambda: True,
            "failure": lambda: False,
            "cancelled": lambda: False,
            "always": lambda: True,
            "hashFiles": lambda *patterns: Unknown("hashFiles"),
        }
        return Scope(contexts, functions)

    def _variable(self, name: str, env: Mapping[str, Any]) -> Any:
        for known in (env, self.env):
            for key, value in known.items():
                if key.lower() == name.lower():
                    return value
        return Unknown(f"env.{name}") if self.may_set else ""

    def _github_value(self, name: str) -> Any:
        if name.lower() == "token":
            return ""
        if name.lower() == "action_path":
            return self.action_path
        return self._github.get(name.lower(), Unknown(f"github.{name.lower()}"))

    def _secret(self, name: str) -> Any:
        """No secret is in a box. The job's own token is empty, which public reading does without."""
        if name.upper() != "GITHUB_TOKEN" and name not in self._secrets:
            self._note(Missing(Lack.SECRET, name))
        return ""

    def _setting(self, name: str) -> Any:
        self._note(Missing(Lack.VARIABLE, name))
        return ""

    def _note(self, missing: Missing) -> None:
        if missing not in self.missing:
            self.missing.append(missing)

    def forget(self, kept: Iterable[Missing]) -> None:
        """Take back what was noted since, where it turned out not to matter."""
        self.missing = list(kept)


def _service(name: str) -> Any:
    """A service listens where the job asked for it."""
    return {"ports": Open(lambda port: as_text(port)), "id": "", "network": ""}
