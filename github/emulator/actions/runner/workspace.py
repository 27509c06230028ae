"""The folders and the environment of one job."""

import base64
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from github.emulator.git.repository import GitRepository, clean_environment

_KEPT = ("PATH", "LANG", "TZ", "SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "NODE_EXTRA_CA_CERTS")
_KEPT_PREFIXES = ("PIP_", "UV_", "NPM_CONFIG_", "npm_config_", "GOPROXY", "GOFLAGS")
_PROXIES = ("http_proxy", "https_proxy", "no_proxy", "all_proxy")
# tools of version managers look below the real home unless they are told where they are
_ROOTS = {
    "PYENV_ROOT": ".pyenv",
    "RUSTUP_HOME": ".rustup",
    "CARGO_HOME": ".cargo",
    "NVM_DIR": ".nvm",
    "ASDF_DATA_DIR": ".asdf",
    "RBENV_ROOT": ".rbenv",
    "VOLTA_HOME": ".volta",
}


def base_environment() -> dict[str, str]:
    """What of this process's environment a job may see: where the tools are, and how to reach the network."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if key in _KEPT or key.startswith(_KEPT_PREFIXES) or key.lower() in _PROXIES
    }
    for key, folder in _ROOTS.items():
        place = os.environ.get(key) or str(Path.home() / folder)
        if Path(place).is_dir():
            kept[key] = place
    return kept


class Workspace:
    """Folders of a job under one temporary folder: a home, a temp folder, one for tools, and that of the checkout,
    which is empty until a step fills it."""

    def __init__(self, repository_name: str) -> None:
        self.root = Path(tempfile.mkdtemp(prefix="job-"))
        self.checkout = self.root / "work" / repository_name / repository_name
        self.home, self.temp, self.tools = self.root / "home", self.root / "temp", self.root / "tools"
        for folder in (self.checkout, self.home, self.temp, self.tools):
            folder.mkdir(parents=True)

    def fill(self, source: GitRepository, sha: str, url: str, target: Path) -> None:
        """A clean checkout of a commit at `target`; its remote is the web host, not the folder it came from."""
        if target.exists():
            shutil.rmtree(target)
        git = ["git", "-c", "advice.detachedHead=false", "-c", "core.hooksPath=/dev/null"]
        for args, cwd in (
            ([*git, "clone", "--quiet", "--no-checkout", "--shared", str(source.path), str(target)], self.root),
            ([*git, "fetch", "--quiet", "origin", sha], target),
            ([*git, "checkout", "--quiet", "--force", "--detach", sha], target),
            ([*git, "remote", "set-url", "origin", url], target),
        ):
            subprocess.run(args, cwd=cwd, env=clean_environment(), check=True, capture_output=True)

    def authorize(self, folder: Path, web_url: str, token: str) -> str:
        """Let git in that checkout act with the job's token, as `actions/checkout` leaves it; what it writes of it."""
        basic = base64.b64encode(f"x-access-token:{token}".encode()).decode()
        args = ["git", "config", f"http.{web_url}/.extraheader", f"AUTHORIZATION: basic {basic}"]
        subprocess.run(args, cwd=folder, env=clean_environment(), check=True, capture_output=True)
        return basic

    def provide_python(self) -> None:
        """`setup-python` is done already, but for the name `python` where a machine only has `python3`."""
        real = shutil.which("python3")
        if shutil.which("python") is None and real is not None:
            shim = self.tools / "python"
            shim.write_text(f'#!/bin/sh\nexec "{real}" "$@"\n')
            shim.chmod(0o755)

    def remove(self) -> None:
        shutil.rmtree(self.root, ignore_errors=True)
