"""Everything of one local GitHub in one place, handed to every handler."""

import secrets
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from github.emulator.actions.engine import Engine
from github.emulator.clock import Clock
from github.emulator.faults import Faults
from github.emulator.git.signing import Signer
from github.emulator.hooks.engine import HookEngine
from github.emulator.limits import Limits
from github.emulator.store.manifests import PendingApp
from github.emulator.store.store import Store
from github.emulator.tokens import Mint

# sees (route template, method, status, body, API version) of every REST answer
AnswerObserver = Callable[[str, str, int, Any, str], None]
# sees (event, action, payload) of every webhook
HookObserver = Callable[[str, str | None, dict[str, Any]], None]


@dataclass(frozen=True)
class Options:
    """`enterprise`: behave as GitHub Enterprise Server (API under `/api/v3`, one API version, no stateless tokens).
    `stateless_tokens`: mint the long form. `job_seconds`: the longest a CI job may take. `parallel_jobs`: at once."""

    enterprise: bool = False
    stateless_tokens: bool = True
    job_seconds: float = 600.0
    parallel_jobs: int = 2
    hook_timeout: float = 10.0


class Hub:
    """Store, clock, faults and engines. The three URLs are known once the server listens."""

    def __init__(self, data: Path, options: Options) -> None:
        self.data = data
        self.options = options
        self.clock = Clock()
        self.store = Store()
        self.faults = Faults()
        self.limits = Limits(self.clock)
        self.signer = Signer()
        self.mint = Mint(secrets.token_hex(32))
        self.api_url = ""
        self.web_url = ""
        self.logs_url = ""
        self.log_key = secrets.token_bytes(32)
        self.manifests: dict[str, PendingApp] = {}
        self.answer_observers: list[AnswerObserver] = []
        self.hook_observers: list[HookObserver] = []
        self.hooks = HookEngine(self)
        self.ci = Engine(self)

    def listen_at(self, web_url: str, logs_url: str) -> None:
        """Learn the origins that the server got."""
        self.web_url = web_url
        self.api_url = f"{web_url}/api/v3" if self.options.enterprise else web_url
        self.logs_url = logs_url
