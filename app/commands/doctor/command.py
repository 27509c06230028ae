"""`greenloop doctor`: is everything there that the service needs, and how to mend what is not."""

import asyncio
import json
from dataclasses import asdict
from typing import Annotated

import typer

from app.commands.common import one_line_errors


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="One JSON object instead of a table.")] = False,
    network: Annotated[
        bool, typer.Option("--network", help="Start a box that tries what boxes can reach, and what is closed to them.")
    ] = False,
) -> None:
    """Check settings, the App's permissions, events and webhook, database, Redis, git, disk, agents and their accounts,
    boxes and their network.

    The exit code is 1 when something failed, 0 when there are warnings at most, 2 for settings that cannot be read.
    """
    from app.commands.doctor.checkup import examine
    from app.logging import configure
    from app.settings import Settings

    with one_line_errors():
        settings = Settings()
        configure("error", json=False)
        found = asyncio.run(examine(settings, network=network))
    good = all(each.level != "fail" for each in found)
    if as_json:
        print(json.dumps({"ok": good, "checks": [asdict(each) for each in found]}, ensure_ascii=False))
    else:
        width = max(len(each.check) for each in found)
        for each in found:
            print(f"{each.level:<4}  {each.check:<{width}}  {each.says}")
            if each.mend and each.level != "ok":
                print(f"{'':<{width + 8}}{each.mend}")
    raise typer.Exit(0 if good else 1)
