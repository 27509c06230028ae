"""`greenloop setup`: make the GitHub App in a browser, and keep its key and secrets in a folder."""

import asyncio
import secrets
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from app.commands.common import PortOption, listen, one_line_errors

if TYPE_CHECKING:
    from github.apps.manifest import NewApp
    from github.client.addresses import Addresses

ENV_FILE = "greenloop.env"


def setup(
    public_url: Annotated[
        str, typer.Argument(metavar="PUBLIC_URL", help="Where GitHub and people will reach the service, https://….")
    ],
    organization: Annotated[str, typer.Option(help="Who owns the App; without it, you.")] = "",
    name: Annotated[str, typer.Option(help="The App's name, and how people mention it.")] = "Greenloop",
    workflows: Annotated[bool, typer.Option(help="Ask for the right to change workflow files, too.")] = False,
    folder: Annotated[Path, typer.Option(help="Where the key and the secrets go.")] = Path("greenloop-app"),
    port: PortOption = 0,
) -> None:
    """Make the GitHub App: open the page that this command names, agree, install.

    GitHub is the one of GREENLOOP_GITHUB_API_URL. The exit code is 2 for input that cannot be used.
    """
    from app.commands.setup_page import SetupPage
    from app.settings import Settings
    from github.apps.manifest import form_url, manifest
    from github.client.addresses import Addresses

    with one_line_errors():
        settings = Settings()
        addresses = Addresses.of(settings.github_api_url, settings.github_web_url)
        make_empty(folder)
        listening = listen("127.0.0.1", port)
        here = f"http://127.0.0.1:{listening.getsockname()[1]}"
        wanted = manifest(public_url, name=name, redirect_url=f"{here}/created", workflows=workflows)
    state = secrets.token_urlsafe(16)
    action = form_url(addresses, state=state, organisation=organization or None)

    def keep(app: "NewApp") -> None:
        write(folder, files_of(app, public_url, addresses, folder.resolve()))

    page = SetupPage(addresses, wanted, action, state, folder, keep)
    typer.echo(f"Open {here} in a browser. Ctrl-C gives up.")
    made = asyncio.run(page.serve(listening))
    if made is None:
        raise typer.Exit(1)
    typer.echo(next_steps(made, folder))


def files_of(app: "NewApp", public_url: str, addresses: "Addresses", folder: Path) -> dict[str, str]:
    """The files of an App, by name. `greenloop.env` has the settings that make `greenloop up` be this App."""
    env = {
        "GREENLOOP_APP_ID": str(app.app_id),
        "GREENLOOP_APP_PRIVATE_KEY_FILE": str(folder / "private-key.pem"),
        "GREENLOOP_WEBHOOK_SECRETS_FILE": str(folder / "webhook-secret"),
        "GREENLOOP_CLIENT_ID": app.client_id,
        "GREENLOOP_SIGN_IN_SECRET_FILE": str(folder / "client-secret"),
        "GREENLOOP_PUBLIC_URL": public_url.rstrip("/"),
        "GREENLOOP_GITHUB_API_URL": addresses.api,
        "GREENLOOP_GITHUB_WEB_URL": addresses.web,
    }
    return {
        "private-key.pem": app.private_key,
        "webhook-secret": app.webhook_secret,
        "client-id": app.client_id,
        "client-secret": app.client_secret,
        ENV_FILE: "".join(f"{name}={shlex.quote(value)}\n" for name, value in env.items()),
    }


def make_empty(folder: Path) -> None:
    """Make the folder before anything is asked of GitHub: the App's key is told only once.

    Raises ValueError if something is in it, OSError if it cannot be written.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if any(folder.iterdir()):
        raise ValueError(f"{folder} is not empty: name another with --folder, or remove what is in it")
    probe = folder / ENV_FILE
    probe.touch(mode=0o600)
    probe.unlink()


def write(folder: Path, files: dict[str, str]) -> None:
    """Write the files, readable by their owner alone."""
    for name, text in files.items():
        file = folder / name
        file.touch(mode=0o600)
        file.write_text(text)


def next_steps(app: "NewApp", folder: Path) -> str:
    """What to do with the folder, for a person at a terminal."""
    at = shlex.quote(str(folder))
    return f"""\
Made the App {app.name} (id {app.app_id}); its key and secrets are in {folder}.

Install it on repositories:  {app.install_url}
On this machine:             set -a; . {at}/{ENV_FILE}; set +a; greenloop up
On Kubernetes:               kubectl -n greenloop create secret generic greenloop \\
                               --from-file=private-key={at}/private-key.pem \\
                               --from-file=webhook-secrets={at}/webhook-secret \\
                               --from-file=signin-secret={at}/client-secret \\
                               --from-literal=encryption-keys="$(head -c 32 /dev/urandom | base64 | tr '+/' '-_')"
                             helm -n greenloop install greenloop charts/greenloop --set github.appId={app.app_id} \\
                               --set github.clientId={app.client_id} --set secrets.signinSecret.enabled=true …"""
