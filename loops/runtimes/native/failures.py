"""How our own agent says that it failed: an `error` event with the provider's sentence."""

from typing import Final

from loops.runtimes.failures import Sign

FAILURES: Final[tuple[Sign, ...]] = ()
