"""Logs as GitHub's runner writes them, around what a tool printed."""

from collections.abc import Iterable, Sequence


def stamped(lines: Iterable[str], start: int = 0) -> bytes:
    """Each line with the runner's time; the first with the byte order mark."""
    out = []
    for n, line in enumerate(lines, start):
        clock = f"{n // 3600 % 24:02}:{n // 60 % 60:02}:{n % 60:02}.{n % 9973:04}123Z"
        out.append(f"2026-03-0{1 + n // 86_400 % 8}T{clock} {line}\n")
    return ("\ufeff" + "".join(out)).encode()


def step(command: str, output: Sequence[str], exit_code: int | None = None) -> list[str]:
    """One `run:` step: its heading, its output, and the runner's mark if it failed."""
    first = command.split("\n")[0]
    head = [f"##[group]Run {first}", *(f"\x1b[36;1m{line}\x1b[0m" for line in command.split("\n"))]
    head += ["shell: /usr/bin/bash -e {0}", "env:", "  CI: true", "##[endgroup]"]
    end = [f"##[error]Process completed with exit code {exit_code}."] if exit_code else []
    return [*head, *output, *end]


def job(*steps: Sequence[str], name: str = "test (ubuntu-latest, 3.12)") -> bytes:
    """A whole job: what the runner says before the first step and after the last."""
    before = [
        "Current runner version: '2.333.1'",
        "##[group]Runner Image Provisioner",
        "Hosted Compute Agent",
        "##[endgroup]",
        "Prepare workflow directory",
        "Getting action download info",
        "Download action repository 'actions/checkout@v4' (SHA:34e114876b0b11c390a56381ad16ebd13914f8d5)",
        f"Complete job name: {name}",
        "##[group]Run actions/checkout@v4",
        "with:",
        "  repository: octo/repo",
        "##[endgroup]",
        "Syncing repository: octo/repo",
        "[command]/usr/bin/git init /__w/repo/repo",
        "hint: Using 'master' as the name for the initial branch.",
        "remote: Counting objects: 100% (10/10), done.",
    ]
    after = ["Post job cleanup.", "[command]/usr/bin/git version", "git version 2.53.0", "Cleaning up orphan processes"]
    return stamped([*before, *(line for part in steps for line in part), *after])
