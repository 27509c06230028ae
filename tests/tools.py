"""External programs that some tests need."""

import os
import shutil
from typing import NoReturn

import pytest


def missing(message: str) -> NoReturn:
    """Skip the test by what is missing, or fail it under `CI=true`."""
    if os.environ.get("CI") == "true":
        pytest.fail(message)
    pytest.skip(message)


def need(name: str) -> str:
    """The path of the program `name`. Without it the test is skipped by name, or fails under `CI=true`."""
    path = shutil.which(name)
    if path is None:
        missing(f"this test needs the program {name!r}, which is not on PATH (.ci/run installs it)")
    return path
