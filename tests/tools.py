"""External programs that some tests need."""

import os
import shutil

import pytest


def need(name: str) -> str:
    """The path of the program `name`. Without it the test is skipped by name, or fails under `CI=true`."""
    path = shutil.which(name)
    if path is None:
        message = f"this test needs the program {name!r}, which is not on PATH (.ci/run installs it)"
        if os.environ.get("CI") == "true":
            pytest.fail(message)
        pytest.skip(message)
    return path
