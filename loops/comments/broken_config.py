"""The comment about a repository's configuration that cannot be read. Pure."""

from collections.abc import Sequence

from github.client.defuse import defused


def broken_config(path: str, found: Sequence[str]) -> str:
    """What is wrong in a repository's configuration."""
    listed = "\n".join(f"- {defused(problem)}" for problem in found)
    return f"`{path}` on the default branch is broken, so the defaults hold until it is mended:\n\n{listed}"
