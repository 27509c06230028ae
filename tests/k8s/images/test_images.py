"""The images, as far as they can be checked without an engine: what they copy, pin and start, and the smoke script."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from k8s.options import RUNNER_COMMAND
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
    assert set(pinned) == {"@openai/codex", "opencode-ai", "@anthropic-ai/claude-code"}
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
    need("claude"), need("codex")
    done = smoke("claude", "codex", path=os.environ["PATH"])
    assert done.returncode == 0, done.stderr
    assert done.stdout.count("one scripted turn") == 2


def test_the_smoke_script_refuses_another_version(tmp_path: Path) -> None:
    program = tmp_path / "codex"
    program.write_text("#!/bin/sh\necho codex-cli 0.1.0\n")
    program.chmod(0o755)
    done = smoke("codex", path=f"{tmp_path}:{os.environ['PATH']}")
    assert done.returncode == 1
    assert "codex is codex-cli 0.1.0, package.json says" in done.stderr
