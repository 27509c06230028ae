"""What the images are made of is named exactly: packages by integrity, bases by digest; and a bill of materials."""

import json
import os
import re
import stat
import subprocess
from pathlib import Path
from typing import Any

import pytest

from tests.tools import need

ROOT = Path(__file__).parents[3]
IMAGES = ROOT / "k8s/images"
DIGEST = "sha256:" + "a1" * 32
ENGINE = """#!/bin/sh
echo "$*" >> "$CALLS"
case "$1" in buildx) echo "$ANSWER" ;; esac
"""


def test_the_lock_file_is_of_the_packages_that_are_wanted_each_with_its_integrity() -> None:
    wanted = json.loads((IMAGES / "package.json").read_text())["dependencies"]
    packages = json.loads((IMAGES / "package-lock.json").read_text())["packages"]
    assert packages[""]["dependencies"] == wanted
    for name, version in wanted.items():
        assert packages[f"node_modules/{name}"]["version"] == version
    assert {package.get("integrity", "sha512-")[:7] for name, package in packages.items() if name} == {"sha512-"}
    refused = locked("amd64", "arm64")
    assert not refused.returncode, refused.stderr
    for name in wanted:
        for cpu in ("x64", "arm64"):
            assert programs(packages, name, cpu), f"{name} has no program for Linux on {cpu}"


def programs(packages: dict[str, Any], name: str, cpu: str) -> list[str]:
    """Of a package and what it takes by platform: what is locked for Linux with glibc on such a machine."""
    package = packages[f"node_modules/{name}"]
    platform = {"os": "linux", "cpu": cpu, "libc": "glibc"}
    names = list(package.get("optionalDependencies", {})) or [name]
    choices = {each: packages[f"node_modules/{each}"] for each in names}
    return [
        each
        for each, choice in choices.items()
        if "integrity" in choice and all(value in choice.get(field, [value]) for field, value in platform.items())
    ]


def locked(*architectures: str, lock: Path | None = None) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, **({"NPM_LOCK": str(lock)} if lock else {})}
    told = [str(IMAGES / "locked"), *architectures]
    return subprocess.run(told, env=env, capture_output=True, text=True, check=False)


def test_an_architecture_of_which_a_package_is_not_locked_is_named_and_so_is_what_to_do(tmp_path: Path) -> None:
    whole = json.loads((IMAGES / "package-lock.json").read_text())
    for name, package in whole["packages"].items():
        if name:
            package.setdefault("integrity", "sha512-" + "A" * 86 + "==")
    lock = tmp_path / "package-lock.json"
    lock.write_text(json.dumps(whole))
    assert locked("amd64", "arm64", lock=lock).returncode == 0
    linux = {name: each for name, each in whole["packages"].items() if each.get("os") == ["linux"]}
    arm = next(name for name, each in linux.items() if each["cpu"] == ["arm64"] and each.get("libc") != ["musl"])
    musl = next(name for name, each in linux.items() if each.get("libc") == ["musl"])
    del linux[arm]["integrity"], linux[musl]["integrity"]
    lock.write_text(json.dumps(whole))
    assert locked("amd64", lock=lock).returncode == 0, "what an image does not get need not be there"
    refused = locked("amd64", "arm64", lock=lock)
    assert refused.returncode == 1
    name = arm.removeprefix("node_modules/")
    assert f"no integrity of {name}, which the agents' image for arm64 needs" in refused.stderr
    assert "npm install --package-lock-only" in refused.stderr
    assert "usage" in locked("riscv64").stderr and "usage" in locked().stderr


@pytest.mark.parametrize("words", [("--platform", "linux/arm64"), ("--platform=linux/amd64,linux/arm64",)])
def test_no_agents_image_is_built_of_what_is_not_locked(tmp_path: Path, words: tuple[str, ...]) -> None:
    engine = Engine(tmp_path)
    assert engine.build("--resolve").returncode == 0
    before = engine.calls.read_text()
    bare = tmp_path / "package-lock.json"
    bare.write_text(json.dumps({"packages": {"node_modules/some": {"os": ["linux"], "cpu": ["arm64"]}}}))
    engine.env["NPM_LOCK"] = str(bare)
    refused = engine.build("agent", "box:1", *words)
    assert refused.returncode == 1 and "no integrity of some" in refused.stderr
    assert engine.calls.read_text() == before, "the engine was not asked"
    assert engine.build("agent", "box:1", "--platform=linux/amd64").returncode == 0
    assert engine.build("service", "service:1", *words).returncode == 0, "it has no npm package"


@pytest.mark.parametrize("file", ["requirements.lock", "k8s/images/native.lock"])
def test_each_python_package_has_its_hashes(file: str) -> None:
    text = (ROOT / file).read_text().replace("\\\n", " ")
    for line in filter(None, (line.partition(" #")[0].strip() for line in text.splitlines())):
        assert line.startswith("#") or "--hash=sha256:" in line, line


class Engine:
    """A container engine that notes what it is asked, and answers for a registry."""

    def __init__(self, folder: Path) -> None:
        self.calls, self.bases = folder / "calls", folder / "bases.lock"
        program = folder / "engine"
        program.write_text(ENGINE)
        program.chmod(program.stat().st_mode | stat.S_IXUSR)
        self.env = {**os.environ, "ENGINE": str(program), "BASES": str(self.bases), "CALLS": str(self.calls)}

    def build(self, *words: str, answer: str = DIGEST) -> subprocess.CompletedProcess[str]:
        told = [str(IMAGES / "build"), *words]
        return subprocess.run(told, env={**self.env, "ANSWER": answer}, capture_output=True, text=True, check=False)


@pytest.mark.parametrize("which", ["agent", "service"])
def test_an_image_is_built_from_the_digests_that_the_registry_named(tmp_path: Path, which: str) -> None:
    engine = Engine(tmp_path)
    assert "bases.lock is not there" in engine.build(which, "box:1").stderr
    assert engine.build("--resolve").returncode == 0
    made = engine.build(which, "box:1", "--pull")
    assert made.returncode == 0, made.stderr
    told = engine.calls.read_text().splitlines()[-1]
    wanted = re.findall(r"^ARG (\w+_IMAGE)=(\S+):", (IMAGES / f"{which}.Dockerfile").read_text(), re.MULTILINE)
    assert wanted and all(f"--build-arg {name}={image}@{DIGEST}" in told for name, image in wanted)
    assert f"-t box:1 --pull {ROOT}" in told


@pytest.mark.parametrize(
    "base",
    ["docker.io/library/python:3.13", "python@sha256:abc", f"a b@{DIGEST}", f"python@{DIGEST} ", "", f"@{DIGEST}"],
)
def test_a_base_that_is_named_otherwise_is_refused(tmp_path: Path, base: str) -> None:
    engine = Engine(tmp_path)
    engine.bases.write_text(f"PYTHON_IMAGE {base}\n")
    refused = engine.build("service", "box:1")
    assert refused.returncode == 1 and "IMAGE@sha256:DIGEST" in refused.stderr
    assert not engine.calls.exists()


def test_what_is_no_digest_is_not_written_down(tmp_path: Path) -> None:
    engine = Engine(tmp_path)
    assert engine.build("--resolve", answer="latest").returncode != 0
    assert not engine.bases.exists()


@pytest.mark.parametrize("path", sorted(IMAGES.glob("*.Dockerfile")), ids=lambda path: path.stem)
def test_each_base_is_an_argument_and_no_package_is_installed_without_a_lock_file(path: Path) -> None:
    text = path.read_text().replace("\\\n", " ")
    named = set(re.findall(r"^ARG (\w+_IMAGE)=", text, re.MULTILINE))
    stages = set(re.findall(r"^FROM \S+ AS (\S+)", text, re.MULTILINE))
    for base in re.findall(r"^FROM (\S+)", text, re.MULTILINE):
        assert base.strip("${}") in named | stages, base
    assert "npm install" not in text
    for line in re.findall(r"pip install [^&\n]*", text):
        assert "--require-hashes" in line or line.strip().endswith("--no-deps /src"), line


def test_the_bill_of_materials_names_each_locked_package(tmp_path: Path) -> None:
    need("npm")
    if not (ROOT / ".tools/sbom").exists() and not os.environ.get("CI"):
        pytest.skip("k8s/images/sbom has not been run here: it installs its tool")
    subprocess.run([str(IMAGES / "sbom"), str(tmp_path)], check=True, capture_output=True)
    found = {
        path.name: {each["name"] for each in json.loads(path.read_text())["components"]}
        for path in tmp_path.glob("*.cdx.json")
    }
    assert {"claude-code", "codex", "opencode-ai"} & {name.rpartition("/")[2] for name in found["box-agents.cdx.json"]}
    for lock, bill in (("requirements.lock", "service"), ("k8s/images/native.lock", "box-native")):
        names = set(re.findall(r"^([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?==", (ROOT / lock).read_text(), re.MULTILINE))
        assert names <= found[f"{bill}.cdx.json"]
