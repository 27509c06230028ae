"""What stands beside secrets, or is stored as one, and is none."""

import json

import pytest

from loops.secrets.kind import example
from loops.secrets.redact import MASK, Redactor

KEY = example("-----BEGIN PRIVATE KEY-----\n{b64}\n{b40}\n-----END PRIVATE KEY-----\n")
SERVICE_ACCOUNT = {
    "type": "service_account",
    "project_id": "acme-production-1234",
    "private_key_id": example("{h40}"),
    "private_key": KEY,
    "client_email": "deploy@acme-production-1234.iam.gserviceaccount.com",
    "client_id": "108765432109876543210",
    "auth_uri": "https://accounts.google.com/o/oauth2/auth",
    "token_uri": "https://oauth2.googleapis.com/token",
    "auth_provider_x509_cert_url": "https://www.googleapis.com/oauth2/v1/certs",
    "universe_domain": "googleapis.com",
}


@pytest.mark.parametrize("indent", [None, 2])
def test_of_a_service_account_only_the_key_is_hidden(indent: int | None) -> None:
    redactor = Redactor([json.dumps(SERVICE_ACCOUNT, indent=indent)])
    for name, value in SERVICE_ACCOUNT.items():
        text = f"uses {value} for it"
        assert (MASK in redactor.text(text)) is name.startswith("private_key"), name
        for line in (f'"{name}": "{value}"', f'  "{name}": "{value}",'):
            assert (MASK in redactor.text(line)) is name.startswith("private_key"), line
    assert not redactor.known("-----BEGIN PRIVATE KEY-----")
    for line in KEY.splitlines()[1:-1]:
        assert redactor.text(f"line {line} of it") == f"line {MASK} of it"


@pytest.mark.parametrize(
    "value",
    [
        "localhost",
        "postgres",
        "PostgreSQL",
        "production",
        "127.0.0.1",
        "127.0.0.1:5432",
        "redis://localhost:6379/0",
        "http://localhost:3000",
        "https://api.example.com/v1",
        "db.internal",
        "smtp.gmail.com",
        "noreply@example.com",
        "eu-central-1",
        "/var/lib/postgresql/data",
        "2026-11-30",
        "verify-full",
        "utf8mb4",
    ],
)
def test_a_stored_value_that_stands_in_ordinary_text_is_shown_and_published(value: str) -> None:
    redactor = Redactor([value])
    assert redactor.text(f"connects to {value} now") == f"connects to {value} now"
    assert not redactor.known(f"HOST = '{value}'")


@pytest.mark.parametrize(
    "value",
    [
        "correct horse",
        "hunter2-and-more",
        "Postgres#2026",
        "sunshine",
        example("postgresql://app:{w16}@localhost:5432/app"),
        example("https://hooks.acme.com/in/{w24}"),
        example("{d18}"),
        example("{h32}"),
    ],
)
def test_a_stored_value_that_may_be_a_secret_is_hidden(value: str) -> None:
    assert Redactor([value]).text(f"see {value} now") == f"see {MASK} now"


def test_the_password_in_a_stored_address_is_hidden_by_itself() -> None:
    redactor = Redactor(["mysql://app:tea-for-two@db.acme.io/app"])
    assert redactor.text("password: tea-for-two") == f"password: {MASK}"
    assert redactor.text("host: db.acme.io") == "host: db.acme.io"


def test_of_a_clusters_configuration_only_the_credentials_are_hidden() -> None:
    token = example("{w40}")
    config = (
        "apiVersion: v1\nkind: Config\ncurrent-context: acme-production-cluster\nclusters:\n- cluster:\n"
        f"    server: https://10.0.0.1:6443\nusers:\n- name: deploy\n  user:\n    token: {token}\n"
    )
    redactor = Redactor([config])
    assert redactor.text(f"Bearer: {token}!") == f"Bearer: {MASK}!"
    for line in config.splitlines():
        assert (MASK in redactor.text(line)) is (token in line), line
