"""Which runtimes a provider account can drive, and which one a turn gets. Pure: refused before anything is queued."""

from dataclasses import dataclass

from loops.runtimes import registry
from loops.runtimes.base import CredentialKind
from loops.runtimes.cloud_keys import region_of
from loops.runtimes.login import Login
from loops.runtimes.spec import ANY, Accepts, RuntimeSpec, Wire


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
        supported = ", ".join(runtimes_for(profile)) or "none"
        super().__init__(f'Provider "{profile.provider}" cannot run the "{runtime}" runtime. Supported: {supported}.')
        self.runtime = runtime


def runtimes_for(profile: Profile) -> tuple[str, ...]:
    """What a picker offers for `profile`, the default first."""
    found = [(runtime.name, how) for runtime in registry.every() if (how := _how(profile, runtime))]
    offered = sorted((not how.first_choice, at, name) for at, (name, how) in enumerate(found) if not how.on_request)
    return tuple(name for _, _, name in offered)


def can_drive(profile: Profile, runtime: str) -> bool:
    """Whether a turn of `profile` may use `runtime`: what is offered, and what runs for whoever asks for it."""
    spec = registry.get(runtime)
    return not spec.accepts or _how(profile, spec) is not None


def _how(profile: Profile, runtime: RuntimeSpec) -> Accepts | None:
    """How the runtime takes such an account, by the first of its entries that fits."""
    fits = (each for each in runtime.accepts if each.provider in (profile.provider, ANY))
    return next((each for each in fits if profile.credential in each.kinds), None)


def providers() -> tuple[str, ...]:
    """The providers that are known by name, in the order of the runtimes that know them."""
    named = [each.provider for runtime in registry.every() for each in runtime.accepts if each.provider != ANY]
    return tuple(
        dict.fromkeys([*named, *(each.provider for runtime in registry.every() for each in runtime.endpoints)])
    )


def endpoint_of(provider: str, wire: Wire) -> str | None:
    """Where the provider answers that protocol; None where nobody knows it."""
    known = (each for runtime in registry.every() for each in runtime.endpoints)
    return next((each.url for each in known if each.provider == provider and wire in each.wires), None)


def login_of(kind: CredentialKind) -> Login | None:
    """How a login of that kind is used and refreshed; None: it is no login."""
    return next((each for runtime in registry.every() for each in runtime.logins if each.kind == kind), None)


def check(profile: Profile, secret: str) -> None:
    """Raises ValueError, without quoting the secret, for an account with which no turn could run.

    Behind an endpoint of one's own any provider and any key goes: somebody's proxy gives out its own.
    """
    offered = runtimes_for(profile)
    if not offered:
        raise ValueError(f'No runtime takes a {profile.credential!r} of the provider "{profile.provider}".')
    if profile.credential == "none" and not profile.base_url:
        raise ValueError("An account without a key needs an endpoint of its own: add --base-url.")
    if profile.credential == "api_key" and not profile.base_url:
        if profile.provider not in providers():
            known = ", ".join(providers())
            raise ValueError(
                f'The provider "{profile.provider}" is not known. Known: {known}; any other needs --base-url.'
            )
        prefixes = {start: whose for runtime in registry.every() for start, whose in runtime.key_prefixes.items()}
        whose = next((whose for start, whose in prefixes.items() if secret.startswith(start)), profile.provider)
        if not _same(whose, profile.provider):
            raise ValueError(f'This is a key of "{whose}", not of "{profile.provider}".')
    first = registry.get(offered[0])
    wire = first.calls.wires(profile.provider, bool(profile.base_url))[0] if first.calls else None
    placed = bool(profile.base_url) or login_of(profile.credential) is not None
    if not placed and wire is not None and endpoint_of(profile.provider, wire) is None:
        raise ValueError(f'Where "{profile.provider}" answers this account is not known: add --base-url.')
    if profile.credential == "aws_access_key":
        region_of(profile.base_url)
    how = _how(profile, first)
    if (first.needs_model or (how is not None and how.needs_model)) and not profile.model:
        raise ValueError(f'The "{offered[0]}" runtime, which such an account gets, needs a model: add --model.')


def _same(one: str, other: str) -> bool:
    """Whether two names of a provider are known to the same runtime by the first choice: `google`, `gemini`."""
    first = [{each.provider for each in runtime.accepts if each.first_choice} for runtime in registry.every()]
    return one == other or any({one, other} <= names for names in first)


def canonical(name: str) -> tuple[str, str | None]:
    """Today's name of a runtime, and a warning where `name` is an old one."""
    new = next((runtime.name for runtime in registry.every() if name in runtime.former_names), None)
    if new is None:
        return name, None
    return new, f'The runtime "{name}" is now called "{new}"; please change the configuration.'
