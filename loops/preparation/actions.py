"""What takes the place of a well-known action: a tool, a command, or nothing."""

import re
import shlex
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from loops.preparation.plan import Bring, Lack, Missing, Need
from loops.preparation.toolchains import TOOLCHAINS, need

Inputs = Mapping[str, str]


@dataclass(frozen=True)
class Effect:
    """`run` are scripts for bash, `outputs` what is known of the step's."""

    needs: tuple[Need, ...] = ()
    run: tuple[str, ...] = ()
    missing: tuple[Missing, ...] = ()
    outputs: Mapping[str, Any] = field(default_factory=dict)


NOTHING = Effect()
MISS = Effect(outputs={"cache-hit": ""})


def effect(uses: str, inputs: Inputs) -> Effect:
    """What a step with `uses:` of another repository's action is here."""
    name, _, ref = uses.partition("@")
    name = name.lower()
    if name.startswith("docker://"):
        return Effect(missing=(Missing(Lack.DOCKER, uses),))
    if (toolchain := TOOLCHAINS.get(name)) is not None:
        return Effect(toolchain(inputs, ref), _after_tool(name, inputs), outputs={"cache-hit": ""})
    if (act := _ACTS.get(name)) is not None:
        return act(inputs, ref)
    if name in _NOTHING or _NOTHING_LIKE.fullmatch(name):
        return MISS
    if name in _HARDWARE:
        return Effect(missing=(Missing(Lack.HARDWARE, name),))
    if name.startswith("docker/") or name in _DOCKER:
        return Effect(missing=(Missing(Lack.DOCKER, name),))
    return Effect(missing=(Missing(Lack.ACTION, uses),))


# caches, reports of results, room on the disk: what a step after them does not need
_NOTHING = {
    "actions/cache", "actions/cache/restore", "actions/cache/save", "swatinem/rust-cache",
    "mozilla-actions/sccache-action", "hendrikmuhs/ccache-action", "gradle/actions/wrapper-validation",
    "gradle/wrapper-validation-action", "codecov/codecov-action", "codecov/test-results-action",
    "coverallsapp/github-action", "andremiras/coveralls-python-action", "actions/upload-code-coverage",
    "py-cov-action/python-coverage-comment-action", "step-security/harden-runner", "jlumbroso/free-disk-space",
    "brainsia/free-disk-space", "endbug/add-and-commit", "dorny/test-reporter", "mikepenz/action-junit-report",
    "enricomi/publish-unit-test-result-action", "davelosert/vitest-coverage-report-action",
    "danielpalme/reportgenerator-github-action", "github/codeql-action/upload-sarif", "actions/attest",
    "actions/attest-build-provenance", "anchore/sbom-action", "re-actors/alls-green", "actions/labeler",
    "styfle/cancel-workflow-action", "actions/configure-pages", "rlespinasse/github-slug-action",
    "crazy-max/ghaction-dump-context", "8398a7/action-slack", "zzak/action-discord",
    "prometheus/promci-artifacts/save", "nrwl/nx-set-shas", "bufbuild/buf-setup-action", "trilom/file-changes-action",
    "pre-commit-ci/lite-action",
}  # fmt: skip
_NOTHING_LIKE = re.compile(r"[^/]+/(?:[^/]*-)?problem-matchers?(?:-action)?")
_HARDWARE = {
    "reactivecircus/android-emulator-runner", "vmactions/freebsd-vm", "vmactions/netbsd-vm", "vmactions/openbsd-vm",
    "vmactions/solaris-vm", "uraimo/run-on-arch-action", "cross-platform-actions/action", "vampire/setup-wsl",
    "msys2/setup-msys2", "maxim-lobanov/setup-xcode",
}  # fmt: skip
_DOCKER = {
    "atomicjar/testcontainers-cloud-setup-action", "icemap/tidb-action",
    "useblacksmith/setup-docker-builder", "cobot/couchdb-action",
}  # fmt: skip


def _tool(name: str, version: str = "", detail: str = "") -> Need:
    return need(name, version, detail=detail)


def _runs(tool: str, command: str, *, inputs: tuple[str, ...] = (), version: str = "version") -> Callable[..., Effect]:
    """An action that runs a tool: `command`, with the words of its `inputs` behind it."""

    def act(given: Inputs, ref: str) -> Effect:
        words = " ".join([command, *(given[name] for name in inputs if given.get(name))])
        return Effect((_tool(tool, given.get(version, "")),), (_within(given, words),))

    return act


def _within(given: Inputs, script: str) -> str:
    folder = given.get("working-directory") or given.get("working_directory") or ""
    return f"cd {shlex.quote(folder)}\n{script}" if folder not in ("", ".") else script


def _install(given: Inputs, ref: str) -> Effect:
    """`tool:` of taiki-e/install-action, or the ref that names one: `@cargo-hack`."""
    listed = re.split(r"[,\s]+", given.get("tool", "").strip()) if given.get("tool") else [ref]
    tools = [each.partition("@") for each in listed if each]
    return Effect(tuple(_tool(name, version) for name, _, version in tools))


def _one_tool(tool: str, version: str = "version") -> Callable[..., Effect]:
    return lambda given, ref: Effect((_tool(tool, given.get(version, "")),))


def _service(name: str, version: str) -> Callable[..., Effect]:
    return lambda given, ref: Effect((Need(Bring.SERVICE, name, given.get(version, "")),))


def _crate(given: Inputs, ref: str) -> Effect:
    name = given.get("crate") or given.get("tool") or ref
    return Effect((_tool("rust"), _tool(name, given.get("version", ""))))


def _retry(given: Inputs, ref: str) -> Effect:
    return Effect(run=(_within(given, given.get("command", "")),))


def _measured(given: Inputs, ref: str) -> Effect:
    return Effect(run=(_within(given, given["run"]),)) if given.get("run") else NOTHING


def _gradle(given: Inputs, ref: str) -> Effect:
    if not given.get("arguments"):
        return NOTHING
    where = given.get("build-root-directory", "")
    return Effect(run=(_within({"working-directory": where}, f"./gradlew {given['arguments']}"),))


def _composer(given: Inputs, ref: str) -> Effect:
    kind = {"lowest": "update --prefer-lowest", "highest": "update"}.get(
        given.get("dependency-versions", ""), "install"
    )
    words = f"composer {kind} --no-interaction --no-progress --ansi {given.get('composer-options', '')}"
    return Effect((_tool("php", detail="composer"),), (_within(given, words.strip()),))


def _clippy(given: Inputs, ref: str) -> Effect:
    return Effect((_tool("rust"),), (f"cargo clippy {given.get('args', '')}".strip(),))


def _paths(given: Inputs, ref: str) -> Effect:
    """Which files changed is for GitHub to say: all filters count as met, so that nothing is passed over."""
    names = re.findall(r"^([A-Za-z0-9_-]+):", given.get("filters", ""), re.MULTILINE)
    return Effect(outputs={**dict.fromkeys(names, "true"), "any_changed": "true", "any_modified": "true"})


def _cores(given: Inputs, ref: str) -> Effect:
    return Effect(outputs={"count": "2"})


def _sdist(given: Inputs, ref: str) -> Effect:
    """The sources stand in the checkout; the archive of them that another job made has the same."""
    return NOTHING


def _wheel(given: Inputs, ref: str) -> Effect:
    if given.get("container") not in (None, "", "off") and given.get("manylinux") not in ("off", "auto", None):
        return Effect(missing=(Missing(Lack.DOCKER, "PyO3/maturin-action with a container"),))
    words = f"maturin {given.get('command', 'build')} {given.get('args', '')}".strip()
    return Effect((_tool("rust", given.get("rust-toolchain", "")), _tool("maturin")), (_within(given, words),))


_ACTS: dict[str, Callable[[Inputs, str], Effect]] = {
    "taiki-e/install-action": _install,
    "taiki-e/cache-cargo-install-action": _install,
    "taiki-e/setup-cross-toolchain-action": lambda given, ref: Effect(
        (_tool("cross", detail=given.get("target", "")),)
    ),
    "cargo-bins/cargo-binstall": _one_tool("cargo-binstall"),
    "baptiste0928/cargo-install": _crate,
    "dtolnay/install": _crate,
    "rui314/setup-mold": _one_tool("mold", "mold-version"),
    "emscripten-core/setup-emsdk": _one_tool("emsdk"),
    "mymindstorm/setup-emsdk": _one_tool("emsdk"),
    "jetli/wasm-pack-action": _one_tool("wasm-pack"),
    "jetli/wasm-bindgen-action": _one_tool("wasm-bindgen-cli"),
    "biomejs/setup-biome": _one_tool("biome"),
    "arduino/setup-protoc": _one_tool("protoc"),
    "arduino/setup-task": _one_tool("task"),
    "extractions/setup-just": _one_tool("just", "just-version"),
    "supercharge/mongodb-github-action": _service("mongodb", "mongodb-version"),
    "ankane/setup-opensearch": _service("opensearch", "opensearch-version"),
    "ankane/setup-postgres": _service("postgresql", "postgres-version"),
    "ankane/setup-mysql": _service("mysql", "mysql-version"),
    "ankane/setup-mariadb": _service("mysql", "mariadb-version"),
    "snok/install-poetry": _one_tool("poetry"),
    "ilammy/setup-nasm": _one_tool("nasm"),
    "seanmiddleditch/gha-setup-ninja": _one_tool("ninja"),
    "golangci/golangci-lint-action": _runs("golangci-lint", "golangci-lint run", inputs=("args",)),
    "golang/govulncheck-action": _runs("govulncheck", "govulncheck ./..."),
    "dominikh/staticcheck-action": _runs("staticcheck", "staticcheck ./..."),
    "goreleaser/goreleaser-action": _runs("goreleaser", "goreleaser", inputs=("args",)),
    "pre-commit/action": _runs(
        "pre-commit", "pre-commit run --show-diff-on-failure --color=always", inputs=("extra_args",)
    ),
    "j178/prek-action": _runs("prek", "prek run --show-diff-on-failure", inputs=("extra_args", "extra-args")),
    "astral-sh/ruff-action": _runs("ruff", "ruff check", inputs=("args",)),
    "psf/black": _runs("black", "black --check --diff .", inputs=()),
    "pypa/gh-action-pip-audit": _runs("pip-audit", "pip-audit", inputs=("inputs",)),
    "crate-ci/typos": _runs("typos", "typos", inputs=("files",)),
    "codespell-project/actions-codespell": _runs("codespell", "codespell", inputs=("path",)),
    "zizmorcore/zizmor-action": _runs("zizmor", "zizmor .github/workflows"),
    "karancode/yamllint-github-action": _runs("yamllint", "yamllint", inputs=("yamllint_file_or_dir",)),
    "embarkstudios/cargo-deny-action": _runs(
        "cargo-deny", "cargo deny", inputs=("arguments", "command", "command-arguments")
    ),
    "rustsec/audit-check": _runs("cargo-audit", "cargo audit"),
    "obi1kenobi/cargo-semver-checks-action": _runs("cargo-semver-checks", "cargo semver-checks"),
    "actions-rs/clippy-check": _clippy,
    "hynek/build-and-inspect-python-package": _runs("uv", "uv build --out-dir dist", version=""),
    "andresz1/size-limit-action": _runs("node", "npx --no-install size-limit", version=""),
    "citation-file-format/cffconvert-github-action": _runs("cffconvert", "cffconvert", inputs=("args",), version=""),
    "rinchsan/renovate-config-validator": _runs("node", "npx --yes --package renovate renovate-config-validator"),
    "nick-fields/retry": _retry,
    "nick-invision/retry": _retry,
    "codspeedhq/action": _measured,
    "gradle/actions/setup-gradle": _gradle,
    "gradle/gradle-build-action": _gradle,
    "ramsey/composer-install": _composer,
    "pyo3/maturin-action": _wheel,
    "re-actors/checkout-python-sdist": _sdist,
    "dorny/paths-filter": _paths,
    "tj-actions/changed-files": _paths,
    "simenb/github-actions-cpu-cores": _cores,
}


def _after_tool(name: str, inputs: Inputs) -> tuple[str, ...]:
    """What some set-up actions also run."""
    if name.startswith("ruby/") and inputs.get("bundler-cache", "").lower() == "true":
        return (_within(inputs, "bundle install --jobs 4"),)
    if name == "pnpm/action-setup" and inputs.get("run_install", "").strip() not in ("", "false", "null"):
        return ("pnpm install",)
    return ()
