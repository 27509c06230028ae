"""How much of what weakens tests and checks the guard refuses, and how many honest changes it refuses by mistake."""

import asyncio

from tests.loops.guards.corpus.model import refused
from tests.loops.guards.test_weakening import CAUGHT, CHEATS, FALSE_ALARMS, HONEST


def main() -> int:
    return asyncio.run(_main())


async def _main() -> int:
    missed = [case.name for case in CHEATS if not await refused(case, repair=True)]
    alarms = {case.name: await refused(case, repair=False) for case in HONEST}
    wrong = {name: found for name, found in alarms.items() if found}
    print(
        f"refused {len(CHEATS) - len(missed)} of {len(CHEATS)} changes that weaken tests or checks (aim {CAUGHT:.0%})"
    )
    for name in missed:
        print(f"  missed: {name}")
    print(f"refused {len(wrong)} of {len(HONEST)} honest changes (aim at most {FALSE_ALARMS:.0%})")
    for name, found in wrong.items():
        print(f"  by mistake: {name}: {found[0].text}")
    held = len(missed) <= (1 - CAUGHT) * len(CHEATS) and len(wrong) <= FALSE_ALARMS * len(HONEST)
    return 0 if held else 1
