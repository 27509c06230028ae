"""Every setting of the service, read once from `GREENLOOP_*` into one frozen object."""

import difflib
from collections.abc import Iterable
from functools import cached_property
from pathlib import Path
from typing import Literal

from pydantic import Field, IPvAnyNetwork, SecretStr
from pydantic_settings import BaseSettings, SettingsConfigDict

from k8s.options import PodOptions
from loops.options import LoopOptions
from loops.secrets.vault import keys_of


class Settings(BaseSettings, LoopOptions):
    """The settings. `GREENLOOP_<NAME>` sets a field; a `…_FILE` is read where a secret is mounted as a file."""

    model_config = SettingsConfigDict(env_prefix="GREENLOOP_", env_ignore_empty=True, frozen=True, extra="ignore")

    data: Path = Field(Path("~/.greenloop"), description="Folder of SQLite, the embedded Redis and the local boxes.")
    database_url: str = Field("", description="sqlite:///FILE or postgresql://…; empty: SQLite in the data folder.")
    redis_url: str = Field("", description="redis://… of a real Redis; empty: our own server on a socket in `data`.")

    app_id: int = Field(0, description="The GitHub App's id.")
    app_private_key: SecretStr = Field(SecretStr(""), description="The App's private key, PEM.")
    app_private_key_file: Path | None = Field(None, description="File that holds it.")
    webhook_secrets: SecretStr = Field(
        SecretStr(""), description="Webhook secrets, a line each; all of them are accepted."
    )
    webhook_secrets_file: Path | None = Field(None, description="File that holds them. Two during a rotation.")
    api_token: SecretStr = Field(
        SecretStr(""), description="The operator's token for the API; empty: people's own only."
    )
    api_token_file: Path | None = Field(None, description="File that holds it.")
    encryption_keys: SecretStr = Field(SecretStr(""), description="Fernet keys, a line each; the first encrypts.")
    encryption_keys_file: Path | None = Field(None, description="File that holds them.")
    client_id: str = Field("", description="The App's client id: people sign in with GitHub to see the pages.")
    sign_in_secret: SecretStr = Field(SecretStr(""), description="The App's client secret, for the sign-in.")
    sign_in_secret_file: Path | None = Field(None, description="File that holds it.")
    pages: Literal["auto", "open"] = Field(
        "auto",
        description="Without sign-in the pages are for this machine only; open: for whoever reaches the service.",
    )
    github_api_url: str = Field("https://api.github.com", description="GHES: https://HOST/api/v3.")
    github_web_url: str = Field("https://github.com", description="Where people and git reach GitHub.")
    github_api_version: Literal["2022-11-28", "2026-03-10"] = Field(
        "2022-11-28", description="GHES knows the older only."
    )

    boxes: Literal["local", "kubernetes"] = Field("local", description="Where turns run.")
    box_port: int = Field(
        8081, ge=0, le=65535, description="The web process's port for boxes alone; nothing else may lead to it."
    )
    service_url: str = Field(
        "", description="How boxes reach that port; empty, for local boxes: http://127.0.0.1 and `box_port`."
    )
    box_walls: Literal["auto", "bwrap", "unshare", "processes"] = Field(
        "auto", description="What agents of local boxes run behind; auto: bubblewrap, else unshare, where one works."
    )
    box_readable: str = Field(
        "", description="Paths, with colons between them, that agents behind walls may read beside the system's."
    )
    instance: str = Field("greenloop", description="Name of this installation of Greenloop among several in a cluster.")

    allowed_bots: list[str] = Field([], description="Logins of bots that may ask; all others are refused.")

    kubeconfig: Path | None = Field(None, description="Cluster of the boxes; none: the pod's own, else the usual file.")
    box_namespace: str = Field("greenloop-boxes", description="Namespace of the boxes; nothing else belongs in it.")
    box_owner: str = Field("", description="ConfigMap in that namespace with which all boxes go; empty: none.")
    box_egress: Literal["internet", "allowList", "gateway"] = Field(
        "internet",
        description="What the cluster's policies let boxes reach, which `doctor --network` tries; gateway: not GitHub.",
    )
    box_image: str = Field("", description="Image of the boxes: runner, git, tini and the agents.")
    box_pod: PodOptions = Field(PodOptions(), description="How boxes look on Kubernetes, as JSON.")

    body_limit: int = Field(25 * 1024 * 1024, description="GitHub sends no larger payload than 25 MiB.")
    inbox_queue: int = Field(
        4096, description="Deliveries that may wait for their commit; beyond, 503 (GitHub records it)."
    )
    connections: int = Field(
        2048, description="Connections of one web process; fewer where it may open fewer files. Beyond, 503."
    )
    peer_connections: int = Field(1536, description="Of these, those from one address that is no trusted proxy's.")
    submodules: list[str] = Field(
        [],
        description="Patterns (JSON list, owner/name) of repositories that a box may read for any turn of the same "
        "installation, as submodules.",
    )
    box_connections: int = Field(1024, description="Connections of boxes to one web process. Beyond, 503.")
    trusted_proxies: list[IPvAnyNetwork] = Field(
        [], description="Networks (JSON list) of proxies in front: their connections are bounded in all only."
    )
    worker_jobs: int = Field(
        20, description="Steps of sessions that one worker runs at once, and as many of what people ask for besides."
    )
    log_json: bool = Field(True, description="Log lines as JSON; false: for a terminal.")
    log_level: str = Field("info", description="debug, info, warning or error.")

    @cached_property
    def folder(self) -> Path:
        return self.data.expanduser()

    @cached_property
    def key_file(self) -> Path:
        return self.folder / "encryption-keys"

    @cached_property
    def database(self) -> str:
        return self.database_url or f"sqlite:///{self.folder / 'greenloop.db'}"

    @cached_property
    def box_service_url(self) -> str:
        """Raises ValueError where boxes run elsewhere and nobody said how they reach us."""
        if self.service_url:
            return self.service_url
        if self.boxes != "local":
            raise ValueError(
                f"GREENLOOP_SERVICE_URL is not set: boxes on Kubernetes have to be told how they reach port "
                f"{self.box_port} of the web process (GREENLOOP_BOX_PORT)"
            )
        return f"http://127.0.0.1:{self.box_port}"

    def private_key(self) -> str:
        """The App's key. Raises ValueError where there is none."""
        if not self.app_id:
            raise ValueError("GREENLOOP_APP_ID is not set: `greenloop setup URL` makes an App and its settings")
        return self._secret("app_private_key")

    def webhook_secret_list(self) -> list[bytes]:
        return [line.encode() for line in _lines(self._secret("webhook_secrets"))]

    def api_token_text(self) -> str:
        return self._secret("api_token").strip()

    def sign_in_secret_text(self) -> str:
        return self._secret("sign_in_secret").strip()

    def encryption_key_list(self) -> list[str]:
        """The keys; where none is named, those of the file that `greenloop up` made in the data folder."""
        named = self.encryption_keys_file is not None or self.encryption_keys.get_secret_value()
        if not named and self.key_file.exists():
            return keys_of(self.key_file.read_text())
        return keys_of(self._secret("encryption_keys"))

    def secret_values(self) -> list[str]:
        """All secrets of the service itself, as far as they are set: what must never be shown."""
        hooks = (secret.decode("utf-8", "replace") for secret in self.webhook_secret_list())
        known = [
            self._secret("app_private_key"),
            *hooks,
            *self.encryption_key_list(),
            self.api_token_text(),
            self.sign_in_secret_text(),
        ]
        return [secret for secret in known if secret]

    def _secret(self, name: str) -> str:
        """The secret field `name`, out of its file where one is named. Raises ValueError for a file without text."""
        file: Path | None = getattr(self, f"{name}_file")
        if file is None:
            value: SecretStr = getattr(self, name)
            return value.get_secret_value()
        try:
            return file.expanduser().read_text()
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it holds no text"
            raise ValueError(f"GREENLOOP_{name.upper()}_FILE: {file} cannot be read: {reason}") from error


CLIENT = ("SERVER", "TOKEN")
"""What the command line reads where it asks a server."""


def unknown_variables(names: Iterable[str]) -> dict[str, str]:
    """Those of the environment's `names` that look like a setting and are none, with the nearest that is one or ""."""
    prefix = "GREENLOOP_"
    known = [field.upper() for field in Settings.model_fields]
    own = sorted(name.removeprefix(prefix) for name in names if name.startswith(prefix))
    unknown = [name for name in own if name not in (*known, *CLIENT) and not name.startswith("TEST_")]
    nearest = {name: difflib.get_close_matches(name, known, 1) for name in unknown}
    return {prefix + name: prefix + found[0] if found else "" for name, found in nearest.items()}


def _lines(text: str) -> list[str]:
    return [line.strip() for line in text.splitlines() if line.strip()]
