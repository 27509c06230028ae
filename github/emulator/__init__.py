"""The local GitHub: our own stand-in for github.com, in memory, with real git and workflows that really run."""

from github.emulator.hub import Options
from github.emulator.local import LocalGitHub

__all__ = ["LocalGitHub", "Options"]
