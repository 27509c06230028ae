"""The commands that really ran: what shells, package managers and wrappers print before a program's own output."""

import re
from collections.abc import Sequence

LONGEST = 1_000  # characters
# a program whose bare name at the line's start, with something behind it, is a command echoed by make or a script
# fmt: off
PROGRAMS = frozenset((
    "gradlew", "mvnw", "ant", "bash", "bazel", "bazelisk", "brew", "buf", "bun", "bundle", "cabal", "cargo",
    "clang", "clang-tidy", "cmake", "composer", "conan", "coverage", "ctest", "curl", "cypress", "dart", "deno",
    "docker", "docker-compose", "dotnet", "env", "eslint", "exec", "flake8", "flutter", "g++", "gcc", "git", "go",
    "golangci-lint", "gotestsum", "gradle", "helm", "jest", "julia", "just", "kubectl", "lein", "make", "meson",
    "mix", "mocha", "mvn", "mypy", "ninja", "node", "nox", "npm", "npx", "nx", "nyc", "perl", "phpunit", "pip",
    "pip3", "playwright", "pnpm", "poetry", "pre-commit", "prettier", "prove", "pylint", "pyright", "pytest",
    "python", "python3", "rake", "rspec", "ruby", "ruff", "rustc", "sbt", "sh", "sudo", "swift", "terraform",
    "time", "timeout", "tox", "tsc", "turbo", "uv", "uvx", "valgrind", "vite", "vitest", "webpack", "xcodebuild",
    "xvfb-run", "yarn", "zig",
))
# fmt: on
MARKS = frozenset("+$>[#RCEI")
# a shell's trace, a prompt, npm's and pnpm's heading, a runner's own words before what it runs
ECHOED = re.compile(
    r"(?:\+{1,4} |\$ |> (?=\S+@\d\S* \w)|\[command\]|##\[command\]|\[[\w./@:-]+\] [$>] |#\d+ [\d.]+ \+ |"
    r"(?:RUN|CMD|COMMAND|Command)(?: ?:| at line \d+:) ?|"
    r"(?:Running|RUNNING|Executing|EXECUTING|Run|Invoking|Calling)(?: command| script| test command| cmd)?"
    r"(?:: | [`'\"\[])\W{0,2}"
    r"(?=[A-Za-z./][\w./-]* \S))"
    r"(?!\S+ (?:=|is|are|was) )\S"
)
# the package or environment that runs it comes first: pnpm -r, tox, nox, lerna
NAMED = re.compile(r"[\w@./:-]{1,60}(?: [\w:-]{1,30})?(?:\$ |: commands?\[\d+\]> |> (?=[\w./-]+ -))\S")
VARIABLES = re.compile(r"(?:[A-Z_][A-Z0-9_]*=\S* )+")
# a prompt, or the branch of a tree, before what is run
RAN = re.compile(r"(?:nox )?\s*[>»❯➜→▶►└├╰─│]{1,3} ")
SYMBOL = re.compile(r"\s*[^\w\s\[(\"'`#=+$>-]{1,3} +(?=(?:Running|Executing|EXECUTING|RUNNING|Invoking|Calling)\b)")
ARGUMENT = re.compile(r"\S+ (?:-|\S*[./:=-]|\w+ -|(?:test|run|build|check|lint|ci|install|exec|compile|verify)\b)")
PROSE = re.compile(r"\S+ (?:is|was|are|has|not|failed|error|exited|version|could|cannot|took|for|of)\b|[^ ]+: ")


def is_command(text: str) -> bool:
    """Whether a plain line repeats a command that was run."""
    if not text or len(text) > LONGEST:
        return False
    if not text[0].isascii() and (symbol := SYMBOL.match(text)):
        text = text[symbol.end() :]
    if text[0] in MARKS and ECHOED.match(text):
        return True
    if "=" in text and (set_first := VARIABLES.match(text)):
        text = text[set_first.end() :]
    if ran := RAN.match(text):
        text = text[ran.end() :]
    head = text.partition(" ")[0]
    if head.removeprefix("./").rpartition("/")[2] in PROGRAMS and len(head) < len(text):
        return ARGUMENT.match(text) is not None and PROSE.match(text) is None
    return (head[-1:] in "$>:" or "$ " in text[:92]) and NAMED.match(text) is not None


def commands(texts: Sequence[str]) -> list[int]:
    """Indexes of the lines that repeat a command."""
    return [i for i, text in enumerate(texts) if is_command(text)]
