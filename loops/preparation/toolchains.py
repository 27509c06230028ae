"""Set-up actions of languages and build tools: which tool they bring, and of which version.

`mise` has these tools by these names, and an image may bring them. A file names the version where the inputs do not.
"""

import re
from collections.abc import Callable, Mapping

from loops.preparation.plan import Bring, Need

Inputs = Mapping[str, str]
Toolchain = Callable[[Inputs, str], tuple[Need, ...]]


def need(name: str, version: str = "", *, file: str = "", detail: str = "") -> Need:
    """A tool of that version; `latest` is any."""
    return Need(Bring.TOOL, name, "" if version in ("latest", "stable", "system") else version, file, detail)


def _simple(tool: str, version: str, file: str = "", detail: str = "") -> Toolchain:
    """One tool, whose version stands in the input `version`: of several lines each is one, the last of them in use."""

    def bring(given: Inputs, ref: str) -> tuple[Need, ...]:
        wanted = [each.strip() for each in re.split(r"[\n,]", given.get(version, "")) if each.strip()] or [""]
        return tuple(need(tool, each, file=given.get(file, ""), detail=given.get(detail, "")) for each in wanted)

    return bring


def _rust(given: Inputs, ref: str) -> tuple[Need, ...]:
    """The toolchain is an input, or the action's ref: `dtolnay/rust-toolchain@1.85`, `@nightly`."""
    by_ref = ref if re.fullmatch(r"stable|beta|nightly(?:-[\d-]+)?|\d+(?:\.\d+){1,2}", ref) else ""
    more = [given.get(name, "") for name in ("components", "targets", "target") if given.get(name)]
    return (need("rust", given.get("toolchain") or by_ref, detail=" ".join(more)),)


def _uv(given: Inputs, ref: str) -> tuple[Need, ...]:
    python = given.get("python-version", "")
    return (need("uv", given.get("version", "")), *((need("python", python),) if python else ()))


def _php(given: Inputs, ref: str) -> tuple[Need, ...]:
    more = ", ".join(given[name] for name in ("tools", "extensions") if given.get(name))
    return (need("php", given.get("php-version", ""), file=given.get("php-version-file", ""), detail=more),)


def _ruby_packages(given: Inputs, ref: str) -> tuple[Need, ...]:
    asked = given.get("apt-get", "").replace("_update_", "").strip()
    packages = (Need(Bring.PACKAGES, "apt", detail=asked),) if asked else ()
    return (need("ruby", given.get("ruby-version", "")), *packages)


TOOLCHAINS: dict[str, Toolchain] = {
    "actions/setup-python": _simple("python", "python-version", "python-version-file"),
    "actions/setup-node": _simple("node", "node-version", "node-version-file"),
    "actions/setup-go": _simple("go", "go-version", "go-version-file"),
    "actions/setup-java": _simple("java", "java-version", "java-version-file", "distribution"),
    "graalvm/setup-graalvm": _simple("java", "java-version", detail="distribution"),
    "actions/setup-dotnet": _simple("dotnet", "dotnet-version", "global-json-file"),
    "ruby/setup-ruby": _simple("ruby", "ruby-version"),
    "ruby/setup-ruby-pkgs": _ruby_packages,
    "shivammathur/setup-php": _php,
    "dtolnay/rust-toolchain": _rust,
    "actions-rs/toolchain": _rust,
    "actions-rust-lang/setup-rust-toolchain": _rust,
    "moonrepo/setup-rust": _rust,
    "astral-sh/setup-uv": _uv,
    "yezz123/setup-uv": _uv,
    "pdm-project/setup-pdm": _simple("pdm", "version"),
    "pnpm/action-setup": _simple("pnpm", "version", "package_json_file"),
    "oven-sh/setup-bun": _simple("bun", "bun-version", "bun-version-file"),
    "denoland/setup-deno": _simple("deno", "deno-version", "deno-version-file"),
    "erlef/setup-beam": _simple("erlang", "otp-version"),
    "lukka/get-cmake": _simple("cmake", "cmakeVersion"),
    "jwlawson/actions-setup-cmake": _simple("cmake", "cmake-version"),
    "aminya/setup-cpp": _simple("cmake", "cmake"),
    "goto-bus-stop/setup-zig": _simple("zig", "version"),
    "mlugg/setup-zig": _simple("zig", "version"),
    "swift-actions/setup-swift": _simple("swift", "swift-version"),
    "android-actions/setup-android": _simple("android-sdk", "cmdline-tools-version"),
    "jdx/mise-action": _simple("mise", "version"),
}
