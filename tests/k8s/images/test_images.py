"""The images, as far as they can be checked without an engine: what they copy, pin and start, and the smoke script."""

import json
import os
import re
import shutil
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from k8s.options import RUNNER_COMMAND
from loops.runtimes import registry
from tests.tools import need

ROOT = Path(__file__).parents[3]
IMAGES = ROOT / "k8s/images"
DOCKERFILES = sorted(IMAGES.glob("*.Dockerfile"))


def instructions(path: Path) -> list[tuple[str, str]]:
    """(instruction, rest), with continued lines joined and comments left out."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    joined = re.sub(r"\\\n\s*", " ", "\n".join(lines))
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in joined.splitlines() if line)]


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.stem)
def test_nothing_is_copied_that_is_not_there_or_kept_from_the_build(path: Path) -> None:
    allowed = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    for word, rest in instructions(path):
        if word == "COPY" and not rest.startswith("--from="):
            for source in rest.split()[:-1]:
                assert (ROOT / source).exists(), source
                assert source.split("/")[0] in allowed, f"{source} is in .dockerignore"


@pytest.fixture
def service_source(tmp_path: Path) -> Path:
    """What the service's image copies of this repository, where .dockerignore lets it."""
    left_out = {
        line for line in (ROOT / ".dockerignore").read_text().splitlines() if line[:1].isalpha() and "*" not in line
    }
    for word, rest in instructions(IMAGES / "service.Dockerfile"):
        if word == "COPY" and not rest.startswith("--from=") and (ROOT / rest.split()[0]).is_dir():
            folder = ROOT / rest.split()[0]

            def ignored(place: str, names: list[str]) -> set[str]:
                return {name for name in names if str((Path(place) / name).relative_to(ROOT)) in left_out} | {
                    "__pycache__",
                    "node_modules",
                }

            shutil.copytree(folder, tmp_path / folder.name, ignore=ignored)
    return tmp_path


def test_the_service_image_holds_neither_the_local_github_nor_the_scripted_model(service_source: Path) -> None:
    held = {str(file.relative_to(service_source)) for file in service_source.rglob("*.py")}
    assert "app/web/app.py" in held and "app/demo/command.py" in held
    assert not [name for name in held if name.startswith(("github/emulator/", "loops/runtimes/scripted/"))]
    names = re.findall(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==", (ROOT / "requirements.lock").read_text(), re.M)
    assert "githubkit" in names and "graphql-core" not in names


@pytest.mark.parametrize("command", ["demo", "github"])
def test_what_the_service_image_leaves_out_is_refused_in_one_line(service_source: Path, command: str) -> None:
    words = [sys.executable, "-m", "app", command]
    done = subprocess.run(words, cwd=service_source, capture_output=True, text=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    [line] = done.stderr.splitlines()
    assert f"`greenloop {command}` needs the local GitHub" in line and "make demo" in line


def test_the_lock_of_the_demo_holds_what_the_extra_asks_for_at_the_tested_versions() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["demo"]
    pins = dict(re.findall(r"^([a-z0-9-]+)==(\S+)", (ROOT / "app/demo/requirements.lock").read_text(), re.M))
    assert {re.split(r"[\[>=<]", wanted)[0] for wanted in extra} <= pins.keys()
    tested = (ROOT / "requirements-dev.lock").read_text()
    assert all(re.search(rf"^{name}=={re.escape(pin)}\b", tested, re.M) for name, pin in pins.items())


@pytest.mark.parametrize("path", DOCKERFILES, ids=lambda path: path.stem)
def test_an_image_runs_as_user_1000_and_names_its_bases_with_a_version(path: Path) -> None:
    told = instructions(path)
    assert [rest for word, rest in told if word == "USER"][-1] == "1000:1000"
    for word, rest in told:
        if word == "ARG" and "_IMAGE=" in rest:
            assert re.search(r":\d", rest) and "latest" not in rest


def test_the_agent_image_starts_what_the_pods_start() -> None:
    entry = next(rest for word, rest in instructions(IMAGES / "agent.Dockerfile") if word == "ENTRYPOINT")
    assert json.loads(entry) == list(RUNNER_COMMAND)


def test_the_clis_are_pinned_to_exact_versions() -> None:
    pinned = json.loads((IMAGES / "package.json").read_text())["dependencies"]
    assert set(pinned) == {agent.package for agent in registry.agents() if agent.package}
    assert all(re.fullmatch(r"\d+\.\d+\.\d+", version) for version in pinned.values())


def test_the_native_lock_holds_what_the_extra_asks_for_at_the_tested_versions() -> None:
    extra = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["native"]
    pins = re.findall(r"^([a-z0-9-]+)(?:\[[^\]]*\])?==(\S+)", (IMAGES / "native.lock").read_text(), re.M)
    names = {name for name, _ in pins}
    assert {re.split(r"[\[>=<]", wanted)[0] for wanted in extra} <= names
    tested = (ROOT / "requirements-dev.lock").read_text()
    for name, version in pins:
        assert re.search(rf"^{name}(\[[^\]]*\])?=={re.escape(version)}\b", tested, re.M), f"{name} {version}"


def smoke(*words: str, path: str) -> "subprocess.CompletedProcess[str]":
    env = {**os.environ, "PATH": path, "PYTHON": sys.executable}
    return subprocess.run([str(IMAGES / "smoke"), *words], env=env, capture_output=True, text=True, check=False)


def test_the_smoke_script_runs_a_scripted_turn() -> None:
    done = smoke("native", path=f"{Path(sys.executable).parent}:{os.environ['PATH']}")
    assert done.returncode == 0, done.stderr
    assert "native: greenloop-native, pydantic-ai" in done.stdout
    assert "one scripted turn, “It is green.”" in done.stdout


def test_the_smoke_script_checks_the_real_clis() -> None:
    clis = [agent.name for agent in registry.agents() if agent.package]
    for name in clis:
        need(name)
    done = smoke(*clis, path=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("one scripted turn") == len(clis)


def test_the_smoke_script_refuses_another_version(tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\necho codex-cli 0.1.0\n")
    program.chmod(0o755)
    done = smoke("codex", path=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "codex is codex-cli 0.1.0, package.json says" in done.stderr
