"""Whether the home volume is full, and how to say so."""

from __future__ import annotations

import os
from pathlib import Path

LITTLE_SPACE = 1024 * 1024
LOW_SPACE = 512 * 1024 * 1024
LOW_FILES = 10_000


def is_full(path: Path) -> bool:
    """Whether there is next to nothing left: bytes, or files where the file system counts them."""
    about = os.statvfs(path)
    return about.f_bavail * about.f_frsize < LITTLE_SPACE or about.f_files > 0 == about.f_favail


def is_low(path: Path) -> bool:
    """Whether a fetch and a checkout may well not fit any more."""
    about = os.statvfs(path)
    return about.f_bavail * about.f_frsize < LOW_SPACE or (about.f_files > 0 and about.f_favail < LOW_FILES)


def in_words(path: Path) -> str:
    """That the disk is full, with its figures and the way out."""
    about = os.statvfs(path)
    free, size = about.f_bavail * about.f_frsize // 10**6, about.f_blocks * about.f_frsize // 10**6
    return f"The disk of the box is full ({free} MB free of {size} MB). Delete files in its home or make it larger."
