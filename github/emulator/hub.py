"""The parts of one local GitHub, wired together here and nowhere else."""

import secrets
from collections.abc import Callable
from pathlib import Path
from typing import Any

from github.emulator.actions.engine import Engine
from github.emulator.acts.references import References
from github.emulator.faults import Faults
from github.emulator.forge import Forge
from github.emulator.limits import Limits
from github.emulator.merge_queue import MergeQueue
from github.emulator.options import EmulatorOptions
from github.emulator.store.store import Store
from github.emulator.tokens import Mint
from github.emulator.webhooks import HookEngine

# sees (route template, method, status, body, API version) of every REST answer
AnswerObserver = Callable[[str, str, int, Any, str], None]


class Hub:
    """Store, faults, limits and engines. The URLs are known once the server listens."""

    def __init__(self, data: Path, options: EmulatorOptions) -> None:
        self.options = options
        self.store = Store(data)
        self.clock = self.store.clock
        self.faults = Faults()
        self.limits = Limits(self.clock)
        self.mint = Mint()
        self.log_key = secrets.token_bytes(32)
        self.answer_observers: list[AnswerObserver] = []
        self.hooks = HookEngine(self.store, self.faults, options)
        self.forge = Forge(self.store, self.hooks)
        self.ci = Engine(self.forge, self.faults, self.mint, options)
        self.merge_queue = MergeQueue(self.forge)
        self.forge.followers += [self.ci.follow, References(self.forge).follow, self.merge_queue.follow]

    def listen_at(self, web_url: str, logs_url: str) -> None:
        """Learn the origins that the server got."""
        origins = self.store.origins
        origins.web, origins.logs = web_url, logs_url
        origins.api = f"{web_url}/api/v3" if self.options.enterprise else web_url
