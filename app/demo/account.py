"""The account of `greenloop demo --runtime`: a real one where the usual variable holds a key, else a script."""

import contextlib
import importlib.util
import os
import shutil
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from app.demo.model_faults import ModelFault, Refusing
from app.demo.world import Misuse
from loops.runtimes import registry
from loops.runtimes.scripted.brain import Brain, ByPrompt
from loops.runtimes.scripted.replies import Edit, Read, Reply, Shell
from loops.runtimes.scripted.server import ModelServer
from loops.secrets.vault import Vault, keys_of
from loops.store.database import Database
from loops.store.tables import Profile

Runs = Callable[[], int] | None
MODULE, TESTS = "degrees.py", "tests/test_degrees.py"
_LAST = "    return (fahrenheit - 32) * 5 / 9"
_LAST_TEST = "        self.assertEqual(degrees.fahrenheit_to_celsius(32), 0)"
_ADDED = f"{_LAST}\n\n\ndef celsius_to_kelvin(celsius):\n    return celsius + 273"
_ADDED_TEST = (
    f"{_LAST_TEST}\n\n    def test_celsius_to_kelvin(self):\n"
    "        self.assertEqual(degrees.celsius_to_kelvin(0), 273.15)"
)

# What the script knows: the demo's own issue. As careless people do it takes a round number first and runs no test;
# shown the failing check it looks, mends the number and tries it.
PLANS = {
    "issue": [
        [
            Reply("I'll look at the conversions and their tests.", Read(MODULE)),
            Reply("", Read(TESTS)),
            Reply("", Edit(MODULE, _LAST, _ADDED)),
            Reply("", Edit(TESTS, _LAST_TEST, _ADDED_TEST)),
            Reply("Added `celsius_to_kelvin` with a test."),
        ]
    ],
    "checks": [
        [
            Reply("The check wants 273.15 and gets 273; I'll look.", Read(MODULE)),
            Reply("", Edit(MODULE, "    return celsius + 273", "    return celsius + 273.15")),
            Reply("", Shell("python3 -B -m unittest discover -s tests")),
            Reply("The constant was rounded: zero Celsius is 273.15 kelvin. The tests pass now."),
        ]
    ],
}


@dataclass(frozen=True)
class Account:
    """What becomes the profile of the demo's installation."""

    provider: str
    secret: str = field(repr=False)
    model: str
    base_url: str
    scripted: bool


@contextlib.contextmanager
def account(
    runtime: str, model: str | None, *, own_repository: bool, faults: Sequence[ModelFault] = (), runs: Runs = None
) -> Iterator[Account]:
    """The account for `runtime`; a script answers while the block lasts where no key is set. Raises Misuse.

    `faults` are those of the script; `runs` says how many runs of the agent are over.
    """
    known = {agent.name: agent for agent in registry.agents()}
    if runtime not in known:
        raise Misuse(f"--runtime {runtime}: must be one of {', '.join(known)} (for any other program there is --agent)")
    agent, smoke = known[runtime], registry.smoke(runtime)
    for variable, provider in agent.key_variables:
        key = os.environ.get(variable)
        if key:
            if faults:
                raise Misuse(f"--model-fault is for the script in place of a model: unset {variable}")
            base_url = os.environ.get(f"{provider.upper()}_BASE_URL", "")
            if not model and agent.needs_model:
                raise Misuse(f"--runtime {runtime} with the key in {variable} needs --model")
            yield Account(provider, key, model or "", base_url, scripted=False)
            return
    variables = " or ".join(variable for variable, _ in agent.key_variables)
    if own_repository:
        raise Misuse(f"--runtime {runtime} on a repository of your own needs a model: set {variables}")
    brain: Brain = ByPrompt(PLANS)
    if faults and runs is not None:
        brain = Refusing(brain, faults, runs)
    with ModelServer({"demo": brain}) as server:
        base_url = server.base_url("demo", smoke.wire)
        yield Account(smoke.provider, "sk-scripted-demo-key-0123456789", "scripted-1", base_url, scripted=True)


async def store(database: Database, keys: Path, installation_id: int, account: Account) -> None:
    """Make the account the installation's profile."""
    now = time.time()
    async with database.write() as tx:
        tx.add(
            Profile(
                installation_id=installation_id,
                person_id=None,
                name="demo",
                provider=account.provider,
                credential_kind="api_key",
                model=account.model or None,
                base_url=account.base_url or None,
                secret=Vault(keys_of(keys.read_text())).encrypt(account.secret),
                is_default=True,
                created_at=now,
                updated_at=now,
            )
        )


def missing(runtime: str) -> str | None:
    """What has to be installed before `runtime` can work on this machine, in words; None when all is there."""
    agent = registry.get(runtime)
    if agent.package is None:
        found = importlib.util.find_spec("pydantic_ai") is not None and shutil.which(agent.program)
        return None if found else "our own loop is not installed here: pip install 'greenloop[native]'"
    if shutil.which(agent.program):
        return None
    return (
        f"the program {agent.program!r} is not on PATH (npm has it as {agent.package}, k8s/images/package.json pins it)"
    )
