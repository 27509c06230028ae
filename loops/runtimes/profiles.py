"""Which runtimes a provider account can drive, and which one a turn gets. Pure: refused before anything is queued."""

from dataclasses import dataclass
from typing import Final

from loops.runtimes import registry
from loops.runtimes.base import CredentialKind

CHATGPT_LOGIN: Final = "opencode_openai_login"
"""The provider name under which a ChatGPT login is kept; its credential is an `opencode_auth_json`."""
WITHOUT_ACCOUNT: Final = "command"
"""Runs whatever program it is told; what that program needs is its own affair."""
OWN_LOOP: Final = "native"
"""Our own agent loop: anything with an API key can drive it, when somebody asks for it."""
_LEGACY: Final = {"openai_direct": "opencode"}


@dataclass(frozen=True)
class Profile:
    """A provider account without its secret. `provider` is its name (`openai`, `anthropic`, `openrouter`, …)."""

    provider: str
    credential: CredentialKind
    model: str = ""
    base_url: str = ""


class RefusedRuntimeError(ValueError):
    """The profile cannot drive the runtime that was asked for. The message is for the person who asked."""

    def __init__(self, profile: Profile, runtime: str) -> None:
        supported = ", ".join(runtimes_for(profile))
        super().__init__(f'Provider "{profile.provider}" cannot run the "{runtime}" runtime. Supported: {supported}.')
        self.runtime = runtime


@dataclass(frozen=True)
class Choice:
    """The runtime of a turn, and what should be said about how it was chosen."""

    runtime: str
    warning: str | None = None


def runtimes_for(profile: Profile) -> tuple[str, ...]:
    """What a picker offers for `profile`, the default first."""
    if profile.credential == "opencode_auth_json" or profile.provider == CHATGPT_LOGIN:
        return ("codex",)
    if profile.provider == "anthropic":
        return ("claude",) if profile.credential == "anthropic_oauth_json" else ("claude", "opencode")
    if profile.provider == "openai":
        return ("opencode", "codex")
    return ("opencode",)


def can_drive(profile: Profile, runtime: str) -> bool:
    """Whether a turn of `profile` may use `runtime`: what is offered, and `native` for whoever has a key and asks."""
    if runtime == OWN_LOOP:
        return profile.credential == "api_key"
    return runtime == WITHOUT_ACCOUNT or runtime in runtimes_for(profile)


def resolve(profile: Profile, *, requested: str | None = None, configured: str | None = None) -> Choice:
    """The requested runtime, else the repository's, else the profile's first.

    Raises UnknownRuntimeError for a name nobody knows, and RefusedRuntimeError for one the profile cannot drive.
    """
    name, warning = canonical(requested or configured or runtimes_for(profile)[0])
    registry.get(name)
    if not can_drive(profile, name):
        raise RefusedRuntimeError(profile, name)
    return Choice(name, warning)


def canonical(name: str) -> tuple[str, str | None]:
    """Today's name of a runtime, and a warning where `name` is an old one."""
    new = _LEGACY.get(name)
    if new is None:
        return name, None
    return new, f'The runtime "{name}" is now called "{new}"; please change the configuration.'
