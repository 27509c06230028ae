"""`greenloop github`: the local GitHub alone, for a person, a test in another language, or another program."""

import asyncio
import contextlib
import json
import signal
from pathlib import Path
from typing import Annotated

import typer

from app.commands.common import PortOption, local_github_needed, one_line_errors


def local_github(
    port: PortOption = 0,
    logs_port: Annotated[
        int, typer.Option(min=0, max=65535, help="The second origin, of log blobs; 0 takes a free port.")
    ] = 0,
    data: Annotated[
        Path | None, typer.Option(help="Folder for repositories and keys; without it, a temporary one.")
    ] = None,
    enterprise: Annotated[bool, typer.Option(help="Behave as GitHub Enterprise Server: /api/v3.")] = False,
    fault: Annotated[
        list[str] | None,
        typer.Option(
            metavar="KIND[,OPTION=VALUE…]",
            help="Something that goes wrong, such as lag,what=pull,calls=2 or ci_delay,seconds=20; may be repeated. "
            "docs/local-github.md has them all, and /settings/faults of the running server.",
        ),
    ] = None,
    clock_offset: Annotated[
        float, typer.Option(help="Seconds that its clock is ahead of this machine's, or behind it.")
    ] = 0.0,
) -> None:
    """Serve a local GitHub. Prints one line of JSON that says where it is, then serves until it is interrupted."""
    with local_github_needed("github"), one_line_errors():
        asyncio.run(serve(port, logs_port, data, enterprise, fault or [], clock_offset))


async def serve(
    port: int, logs_port: int, data: Path | None, enterprise: bool, faults: list[str], clock_offset: float
) -> None:
    """Serve until SIGINT or SIGTERM. The key and the webhook secret are written for the owner alone."""
    from github.emulator import EmulatorOptions, LocalGitHub

    local = LocalGitHub(data, options=EmulatorOptions(enterprise=enterprise))
    for text in faults:
        local.hub.faults.add_text(text)
    local.hub.clock.set_offset(clock_offset)
    await local.start(port, logs_port)
    key, secret, client = (local.data_dir / name for name in ("app.pem", "webhook-secret", "client-secret"))
    texts = (local.app.private_key, local.app.webhook_secret, local.app.client_secret)
    for file, text in zip((key, secret, client), texts, strict=True):
        file.touch(mode=0o600)
        file.write_text(text)
    line = {
        "api_url": local.api_url,
        "web_url": local.web_url,
        "logs_url": local.logs_url,
        "app_id": local.app.id,
        "app_slug": local.app.slug,
        "client_id": local.app.client_id,
        "private_key_file": str(key),
        "webhook_secret_file": str(secret),
        "client_secret_file": str(client),
        "control_url": f"{local.web_url}/_local",
    }
    typer.echo(json.dumps(line))
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    with contextlib.suppress(asyncio.CancelledError):
        await ended.wait()
    await local.stop()
