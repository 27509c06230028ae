"""The local GitHub: our own stand-in for github.com, in memory, with real git and workflows that really run."""

from github.emulator.local import LocalGitHub
from github.emulator.options import EmulatorOptions

__all__ = ["EmulatorOptions", "LocalGitHub"]
