"""Attacks that would hit the whole machine, were there no walls around them."""

from pathlib import Path


def or_exit() -> str:
    """A line of shell that ends its script unless it runs in a PID namespace of its own."""
    ours = Path("/proc/self/ns/pid").readlink()
    return f"case $(readlink /proc/self/ns/pid) in '' | '{ours}') echo no walls; exit 1 ;; esac\n"
