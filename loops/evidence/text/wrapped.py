"""What a program that runs others puts before each of their lines, and the line without it."""

import re

WRAPPED = re.compile(
    r"#\d+ \d+\.\d+ "  # BuildKit: step and seconds
    r"|\[?[\w./@-]{1,60}\]? *\| "  # Docker Compose: `web-1  | `
    r"|\[(?!INFO|DEBUG|WARN|ERROR|FATAL|TRACE|info|debug|warn|error)[\w./@:-]{1,60}\]:? "  # concurrently, yarn
    r"|@?[\w./-]{1,60}(?::[A-Za-z][\w.-]*)+: "  # Turborepo, lerna: `@scope/package:task: `
    r"|[\w./@-]{1,60} [\w:-]{1,30}: (?=\S)"  # pnpm -r: `packages/a test: `
    r"|@[\w.-]{1,40}/[\w.-]{1,60}: "  # lerna: `@scope/package: `
    r"|npm (?:ERR!|error) (?=\S)"  # what git, node-gyp or a script said to npm
    r"|\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z "  # docker logs -t, a log within the log
    r"|(?: {7}|[\w.-]{1,60})> (?=\S)"  # nix: the builder's last lines, a derivation's name
    r"|│ {1,2}(?=\S)"
)


def unwrapped(line: str) -> str:
    """The line without one such prefix; the same line where there is none."""
    found = WRAPPED.match(line)
    return line[found.end() :] if found else line


def stream(line: str) -> str:
    """Which program printed the line, by such a prefix; empty where there is none."""
    found = WRAPPED.match(line)
    return found[0].rstrip("0123456789. ") if found and not found[0][0].isdigit() else ""
