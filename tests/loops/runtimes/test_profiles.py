"""Which runtimes a profile can drive."""

import pytest

from loops.runtimes.profiles import Profile, RefusedRuntimeError, can_drive, canonical, runtimes_for
from loops.runtimes.registry import UnknownRuntimeError

CHATGPT = Profile("openai", "opencode_auth_json")
LOGIN = Profile("opencode_openai_login", "opencode_auth_json")
CLAUDE_LOGIN = Profile("anthropic", "anthropic_oauth_json")
ANTHROPIC = Profile("anthropic", "api_key")
OPENAI = Profile("openai", "api_key")
OTHER = Profile("openrouter", "api_key")


@pytest.mark.parametrize(
    ("profile", "runtimes"),
    [
        (CHATGPT, ("codex",)),
        (LOGIN, ("codex",)),
        (CLAUDE_LOGIN, ("claude",)),
        (ANTHROPIC, ("claude", "opencode")),
        (OPENAI, ("opencode", "codex")),
        (OTHER, ("opencode",)),
        (Profile("my-own", "api_key", base_url="http://models.example/v1"), ("opencode",)),
    ],
)
def test_a_profile_offers_the_runtimes_it_can_drive(profile: Profile, runtimes: tuple[str, ...]) -> None:
    assert runtimes_for(profile) == runtimes


@pytest.mark.parametrize(
    ("profile", "runtime", "message"),
    [
        (ANTHROPIC, "codex", 'Provider "anthropic" cannot run the "codex" runtime. Supported: claude, opencode.'),
        (CHATGPT, "opencode", 'Provider "openai" cannot run the "opencode" runtime. Supported: codex.'),
        (OPENAI, "claude", 'Provider "openai" cannot run the "claude" runtime. Supported: opencode, codex.'),
        (OTHER, "codex", 'Provider "openrouter" cannot run the "codex" runtime. Supported: opencode.'),
    ],
)
def test_what_a_profile_cannot_drive_is_refused_with_what_it_can(profile: Profile, runtime: str, message: str) -> None:
    assert not can_drive(profile, runtime)
    assert str(RefusedRuntimeError(profile, runtime)) == message


def test_any_account_may_be_used_by_a_program_of_ones_own() -> None:
    assert can_drive(OTHER, "command") and can_drive(CHATGPT, "command")


def test_an_unknown_runtime_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownRuntimeError, match=r'Unknown runtime "copilot"\. Known: codex, opencode, claude'):
        can_drive(OPENAI, "copilot")


def test_the_old_name_is_read_as_the_new_one_with_a_warning() -> None:
    warning = 'The runtime "openai_direct" is now called "opencode"; please change the configuration.'
    assert canonical("openai_direct") == ("opencode", warning)


def test_our_own_loop_needs_a_key_and_is_used_only_when_asked_for() -> None:
    assert can_drive(OTHER, "native") and not can_drive(CHATGPT, "native") and not can_drive(CLAUDE_LOGIN, "native")
    assert all("native" not in runtimes_for(profile) for profile in (OTHER, OPENAI, ANTHROPIC))
