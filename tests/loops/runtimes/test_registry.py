"""Runtimes by name, and every place that has to know each of them."""

import json
import re
from pathlib import Path
from typing import get_args

import pytest
from typer.testing import CliRunner

from app.commands.cli import main
from loops.guards.keyfiles import by_name
from loops.runtimes import profiles, registry
from loops.runtimes.base import CredentialKind
from loops.runtimes.prices import PRICES
from loops.runtimes.spec import ANY, RuntimeSpec

ROOT = Path(__file__).parents[3]
FOLDER = ROOT / "loops/runtimes"
AGENTS = registry.agents()
WORDS = {"COLUMNS": "500", "NO_COLOR": "1", "TERM": "dumb"}


def test_every_known_name_gives_the_runtime_of_that_name() -> None:
    assert [registry.get(name).name for name in registry.names()] == list(registry.names())


def test_an_unknown_name_is_an_error_that_lists_the_known_ones() -> None:
    with pytest.raises(registry.UnknownRuntimeError) as caught:
        registry.get("copilot")
    assert str(caught.value) == f'Unknown runtime "copilot". Known: {", ".join(registry.names())}.'
    assert "command" in str(caught.value)


def test_each_folder_with_a_spec_is_registered_under_its_own_name() -> None:
    assert {path.parent.name for path in FOLDER.glob("*/spec.py")} == set(registry.names())


def test_nothing_outside_its_folder_names_an_agent_in_code() -> None:
    """A name in the code is a place that the next agent would be forgotten in. Help and examples may name some."""
    spared = {"github/repositories/config.py", "github/webhooks/mention_options.py", "loops/options.py"}
    quoted = re.compile("[\"'](" + "|".join(agent.name for agent in AGENTS) + ")[\"']")
    found = []
    for room in ("app", "loops", "github", "k8s"):
        for path in (ROOT / room).rglob("*.py"):
            name = path.relative_to(ROOT).as_posix()
            own = path.parent.name in registry.names() or path.parent.parent.name in registry.names()
            if not own and quoted.search(path.read_text()) and name not in spared:
                found.append(name)
    assert found == []


@pytest.mark.parametrize("runtime", registry.every(), ids=registry.names())
class TestEveryPlaceKnows:
    """What walks the registry, or has to say what it says."""

    def test_the_readme(self, runtime: RuntimeSpec) -> None:
        assert re.search(rf"\b{runtime.name}\b", (ROOT / "README.md").read_text())

    def test_the_repositorys_configuration(self, runtime: RuntimeSpec) -> None:
        schema = json.loads((ROOT / "github/greenloop.schema.json").read_text())
        assert runtime.name in schema["properties"]["runtime"]["description"]

    @pytest.mark.parametrize("words", [("session", "start"), ("demo",)], ids=" ".join)
    def test_the_help(self, runtime: RuntimeSpec, words: tuple[str, ...]) -> None:
        if words == ("demo",) and runtime.smoke is None:
            return
        shown = CliRunner().invoke(main, [*words, "--help"], env=WORDS)
        assert re.search(rf"\b{runtime.name}\b", shown.stdout), shown.stdout

    def test_the_image(self, runtime: RuntimeSpec) -> None:
        pinned = json.loads((ROOT / "k8s/images/package.json").read_text())["dependencies"]
        dockerfile = (ROOT / "k8s/images/agent.Dockerfile").read_text()
        assert runtime.package is None or runtime.package in pinned
        assert re.search(rf"[{{,/]{runtime.program}[}},\s]", dockerfile) or not runtime.program

    def test_the_guard_against_publishing_its_login(self, runtime: RuntimeSpec) -> None:
        for file in runtime.key_files:
            assert by_name(f"some/folder/{file}", frozenset()) is not None
        assert runtime.key_files or not runtime.package

    def test_the_accounts(self, runtime: RuntimeSpec) -> None:
        for each in runtime.accepts:
            for kind in each.kinds:
                profile = profiles.Profile(each.provider or "anybody", kind)
                assert profiles.can_drive(profile, runtime.name)
                assert (runtime.name in profiles.runtimes_for(profile)) is not each.on_request

    def test_the_prices(self, runtime: RuntimeSpec) -> None:
        assert runtime.prices.items() <= PRICES.items()

    def test_a_title_and_a_sentence_for_people(self, runtime: RuntimeSpec) -> None:
        assert runtime.title and runtime.help.endswith(".")


def test_an_account_gets_one_runtime_where_nobody_asks_whatever_its_provider() -> None:
    named = {(each.provider, kind) for runtime in AGENTS for each in runtime.accepts for kind in each.kinds}
    for provider, kind in named:
        first = [
            runtime.name
            for runtime in AGENTS
            for each in runtime.accepts
            if each.first_choice and each.provider == provider and kind in each.kinds
        ]
        assert len(first) <= 1, (provider, kind, first)


COLUMNS: dict[str, tuple[CredentialKind, ...]] = {
    "`api_key`": ("api_key",),
    "`none`": ("none",),
    "ChatGPT login": ("opencode_auth_json",),
    "Claude login, token": ("anthropic_oauth_json", "anthropic_oauth_token"),
    "AWS": ("aws_bearer_token", "aws_access_key"),
    "Google service account": ("google_service_account",),
}


def test_the_readmes_table_says_which_accounts_each_agent_runs_on() -> None:
    lines = (ROOT / "README.md").read_text().splitlines()
    first = next(at for at, line in enumerate(lines) if line.startswith("| agent | `api_key`"))
    head, _, *rows = ([cell.strip() for cell in line.split("|")[1:-1]] for line in lines[first : first + 8])
    assert {kind for kinds in COLUMNS.values() for kind in kinds} == set(get_args(CredentialKind))
    told = {row[0].split("`")[1]: dict(zip(head, row, strict=True)) for row in rows}
    assert list(told) == list(registry.names())
    for runtime in registry.every():
        for column, kinds in COLUMNS.items():
            takes = [each for each in runtime.accepts if set(kinds) <= set(each.kinds)]
            cell = told[runtime.name][column]
            assert (cell == "–") == (not takes and bool(runtime.accepts)), (runtime.name, column)
            if any(each.provider == ANY for each in takes) or not runtime.accepts:
                assert cell.startswith("any")
            else:
                assert [f"`{each.provider}`" for each in takes] == [name for name in cell.split(", ") if name != "–"]
