import subprocess
import sys
from pathlib import Path

import pytest

from app.settings import Settings, unknown_variables


def test_a_variable_that_is_no_setting_is_found_with_the_one_that_was_meant() -> None:
    names = ["GREENLOOP_DATA_DIR", "GREENLOOP_ZZZZZZZZ", "GREENLOOP_DATA", "GREENLOOP_TEST_IMAGE", "PATH"]
    assert unknown_variables(names) == {"GREENLOOP_DATA_DIR": "GREENLOOP_DATA", "GREENLOOP_ZZZZZZZZ": ""}


def test_every_setting_says_what_it_is_for() -> None:
    undocumented = [name for name, field in Settings.model_fields.items() if not field.description]
    assert not undocumented


@pytest.mark.parametrize(
    ("env", "says"),
    [
        ({}, "GREENLOOP_APP_ID is not set"),
        ({"GREENLOOP_CAP": "many"}, "GREENLOOP_CAP: "),
        ({"GREENLOOP_DATABASE_URL": "mysql://x/y"}, "'mysql'"),
        ({"GREENLOOP_APP_ID": "7", "GREENLOOP_APP_PRIVATE_KEY_FILE": "/nowhere/key.pem"}, "/nowhere/key.pem"),
        ({"GREENLOOP_APP_ID": "7", "GREENLOOP_APP_PRIVATE_KEY": "no key"}, "no RSA key"),
    ],
)
def test_a_service_that_cannot_start_says_why_in_one_line(env: dict[str, str], says: str, tmp_path: Path) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "app", "up", "--port", "0"],
        capture_output=True,
        text=True,
        env={"PATH": "/usr/bin:/bin", "GREENLOOP_DATA": str(tmp_path / "data"), **env},
    )
    assert found.returncode == 2
    assert found.stderr.startswith("greenloop: ") and found.stderr.count("\n") == 1
    assert says in found.stderr
