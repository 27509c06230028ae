import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import Encoding, NoEncryption, PrivateFormat
from typer.testing import CliRunner

from app.commands.cli import main
from app.settings import Settings, unknown_variables
from loops.runtimes import profiles

KEY = rsa.generate_private_key(65537, 2048).private_bytes(Encoding.PEM, PrivateFormat.PKCS8, NoEncryption())
APP = {
    "GREENLOOP_APP_ID": "7",
    "GREENLOOP_APP_PRIVATE_KEY": KEY.decode(),
    "GREENLOOP_WEBHOOK_SECRETS": "a secret of the webhook",
    "GREENLOOP_GITHUB_API_URL": "http://127.0.0.1:1",
}


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
        ({"GREENLOOP_RUNTIME": "moon"}, "GREENLOOP_RUNTIME: "),
        (
            {"GREENLOOP_RUNTIME": "moon"},
            'Unknown runtime "moon". Known: codex, opencode, claude, gemini, native, command.',
        ),
        ({"GREENLOOP_PUBLIC_URL": "greenloop.example.com"}, "GREENLOOP_PUBLIC_URL: "),
        ({"GREENLOOP_BOX_POD": '{"home": {"sze": 1}}'}, "GREENLOOP_BOX_POD: home.sze: "),
        ({"GREENLOOP_ALLOWED_BOTS": "renovate[bot]"}, '"allowed_bots"'),
        ({**APP, "GREENLOOP_DATABASE_URL": "mysql://x/y"}, "'mysql'"),
        ({**APP, "GREENLOOP_DATABASE_URL": "nonsense"}, "sqlite:///FILE or postgresql://"),
        ({**APP, "GREENLOOP_DATABASE_URL": "postgresql://me:hidden@127.0.0.1:1/x"}, "GREENLOOP_DATABASE_URL"),
        ({**APP, "GREENLOOP_DATABASE_URL": "sqlite:////nowhere/x.db"}, "/nowhere/x.db cannot be used: unable to open"),
        ({**APP, "GREENLOOP_DATA": "/dev/null/x"}, "/dev/null/x: Not a directory"),
        ({**APP, "GREENLOOP_REDIS_URL": "nonsense"}, "redis://"),
        ({**APP, "GREENLOOP_ENCRYPTION_KEYS": "short"}, "no Fernet key"),
        (
            {"GREENLOOP_APP_ID": "7", "GREENLOOP_APP_PRIVATE_KEY_FILE": "/nowhere/key.pem"},
            "_KEY_FILE: /nowhere/key.pem",
        ),
        ({"GREENLOOP_APP_ID": "7", "GREENLOOP_APP_PRIVATE_KEY": "no key"}, "no RSA key"),
        ({**APP, "GREENLOOP_WEBHOOK_SECRETS": ""}, "webhook secret"),
        ({**APP, "GREENLOOP_BOXES": "kubernetes"}, "set GREENLOOP_BOX_IMAGE"),
    ],
)
def test_a_service_that_cannot_start_says_why_in_one_line(env: dict[str, str], says: str, tmp_path: Path) -> None:
    found = CliRunner().invoke(
        main, ["up", "--port", "0"], env={"GREENLOOP_DATA": str(tmp_path / "data"), "GREENLOOP_BOX_PORT": "0", **env}
    )
    assert found.exit_code == 2, found.output
    last = found.stderr.splitlines()[-1]
    assert last.startswith("greenloop: ") and says in last
    assert "Traceback" not in found.stderr and "hidden" not in found.stderr


def test_a_service_that_cannot_reach_github_says_so_in_one_line_and_waits(tmp_path: Path) -> None:
    env = {**os.environ, **APP, "GREENLOOP_DATA": str(tmp_path / "data"), "GREENLOOP_BOX_PORT": "0"}
    with subprocess.Popen(
        [sys.executable, "-m", "app", "up", "--port", "0"], env=env, stderr=subprocess.PIPE, text=True
    ) as up:
        assert up.stderr is not None
        try:
            told = next(line for line in up.stderr if "no answer from GitHub" in line)
            assert "worker.waits" in told and up.poll() is None
            up.send_signal(signal.SIGTERM)
            rest = up.stderr.read()
            up.wait(60)
        finally:
            up.kill()
    assert up.returncode == 0, rest
    assert "Traceback" not in rest and "no answer from GitHub" not in rest


@pytest.mark.parametrize("words", [["up", "--port"], ["web", "--port"], ["worker", "--ops-port"], ["github", "--port"]])
def test_a_port_that_is_taken_is_said_in_one_line(words: list[str], tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        env = {
            **APP,
            "GREENLOOP_DATA": str(tmp_path),
            "GREENLOOP_REDIS_URL": "redis://127.0.0.1:1",
            "GREENLOOP_BOX_PORT": "0",
        }
        env["GREENLOOP_ENCRYPTION_KEYS"] = Fernet.generate_key().decode()
        found = CliRunner().invoke(main, [*words, str(taken.getsockname()[1])], env=env)
    assert found.exit_code == 2, found.output
    assert found.stderr.startswith("greenloop: ") and found.stderr.count("\n") == 1
    assert "in use" in found.stderr


def test_an_empty_variable_is_one_that_is_not_set(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_APP_PRIVATE_KEY_FILE", "")
    monkeypatch.setenv("GREENLOOP_CAP", "")
    assert (Settings().app_private_key_file, Settings().cap) == (None, 3)


def test_an_old_name_of_a_runtime_still_works(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("GREENLOOP_RUNTIME", "openai_direct")
    assert profiles.canonical(Settings().runtime)[0] == "opencode"
