"""What `greenloop doctor` looks at, in the order in which it should be mended."""

import asyncio
from collections.abc import Awaitable, Callable

from app.commands.doctor.agent_checks import check_agents
from app.commands.doctor.app_checks import check_app
from app.commands.doctor.box_checks import check_boxes, check_network
from app.commands.doctor.finding import Finding
from app.commands.doctor.service_checks import check_database, check_hooks, check_machine, check_quarantine, check_redis
from app.commands.doctor.settings_checks import check_keys, check_settings
from app.settings import Settings

SECONDS = 15.0
NETWORK_SECONDS = 240.0

Check = Callable[[Settings], Awaitable[list[Finding]]]

CHECKS: tuple[tuple[str, Check], ...] = (
    ("settings", check_settings),
    ("encryption keys", check_keys),
    ("GitHub App", check_app),
    ("database", check_database),
    ("quarantine", check_quarantine),
    ("Redis", check_redis),
    ("hooks", check_hooks),
    ("machine", check_machine),
    ("agents", check_agents),
    ("boxes", check_boxes),
)


async def examine(settings: Settings, *, network: bool = False) -> list[Finding]:
    """Everything, in the order in which it should be mended. `network` starts a box to see what boxes can reach."""
    found: list[Finding] = []
    for name, check in (*CHECKS, *([("network of boxes", check_network)] if network else [])):
        seconds = NETWORK_SECONDS if check is check_network else SECONDS
        try:
            async with asyncio.timeout(seconds):
                found += await check(settings)
        except TimeoutError:
            found.append(
                Finding(name, "fail", f"no answer within {seconds:.0f} s", "Look at the network and try again.")
            )
        except Exception as error:
            # a doctor that dies of one illness finds no other
            text = f"{type(error).__name__}: {error}".splitlines()[0]
            found.append(Finding(name, "fail", text[:300], "Mend what the message names."))
    return found
