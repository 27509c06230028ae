"""One catalogue: what it holds, the redactor hides and the guard refuses; and it knows what others know."""

import importlib
import pkgutil
import re
from collections.abc import Iterator

import detect_secrets.plugins
import pytest
from detect_secrets.plugins.base import RegexBasedDetector
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from k8s.runner.protocol import Change
from loops.guards import Proposal, examine
from loops.guards.secrets import scan
from loops.secrets.catalogue import KINDS
from loops.secrets.kind import Kind, Strength, example
from loops.secrets.recognise import compiled, matches
from loops.secrets.redact import MASK, Redactor
from tests.loops.guards.proposals import blob

SAMPLES = [(kind, sample) for kind in KINDS for sample in kind.samples]
NAMED = [f"{kind.name}-{number}" for number, (kind, _) in enumerate(SAMPLES)]


def secret_in(kind: Kind, text: str) -> str:
    found = compiled(kind.pattern).search(text.encode())
    assert found, text
    if kind.until:
        return text
    start, end = found.span(1 if found.re.groups else 0)
    return text[start:end]


@pytest.mark.parametrize(("kind", "sample"), SAMPLES, ids=NAMED)
def test_the_redactor_hides_every_kind(kind: Kind, sample: str) -> None:
    text = example(sample)
    secret = secret_in(kind, text)
    shown = Redactor().text(f"see {text} there")
    assert MASK in shown and secret not in shown
    assert not any(secret[at : at + 12] in shown for at in range(len(secret) - 12))


@pytest.mark.parametrize(("kind", "sample"), SAMPLES, ids=NAMED)
async def test_the_guard_refuses_every_kind_and_tells_where(kind: Kind, sample: str) -> None:
    content = f"# settings\n{example(sample)}\n".encode()

    async def content_of(sha: str) -> bytes:
        return content

    found = await examine(Proposal([Change("config.yaml", "100644", blob(content), len(content))]), content_of)
    assert [(each.code, each.line) for each in found.refusals][:1] == [("secret", 2)]
    assert secret_in(kind, example(sample)) not in repr(found)


@pytest.mark.parametrize(("kind", "sample"), SAMPLES, ids=NAMED)
def test_tests_may_hold_made_up_ones_only_of_kinds_that_are_not_certain(kind: Kind, sample: str) -> None:
    hits = list(scan("tests/test_x.py", f'x = "{example(sample)}"\n'))
    if kind.strength is Strength.CERTAIN:
        assert any(hit.sure for hit in hits)


@pytest.mark.parametrize("kind", KINDS, ids=[kind.name for kind in KINDS])
def test_every_kind_has_a_name_a_sample_and_a_shape_that_finds_it(kind: Kind) -> None:
    assert kind.name and kind.samples
    for sample in kind.samples:
        assert any(match.kind is kind for match in matches(f"x {example(sample)} y")), sample


def test_no_sample_stands_in_our_source_as_a_scanner_would_find_it() -> None:
    for kind, sample in SAMPLES:
        if sample != example(sample) and kind.strength is Strength.CERTAIN and not kind.until:
            assert not list(matches(sample)), sample


def test_every_sample_is_found_in_one_long_text_of_all() -> None:
    text = "\n".join(f"x {example(sample)} y" for kind, sample in SAMPLES if not kind.until) + "\n"
    for long in (text, text + "a sk- ghp_ eyJ xox AKIA " * 50_000 + text):
        assert {match.kind for match in matches(long)} == {kind for kind in KINDS if not kind.until}


PREFIXED = [(kind, sample) for kind, sample in SAMPLES if kind.strength is Strength.CERTAIN and "\n" not in sample]
AROUND = [
    "\x1b[32m{}\x1b[0m",
    "[32m{}[0m",
    "2m{} x",
    "\\u001b[1m{}\\u001b[0m",
    "x%3D{}",
    "key\\n{}\\n",
    "a\\t{}",
    "^[[1m{}",
    "&quot;{}&quot;",
    "=3D{}",
    "\\x22{}\\x22",
    "\x1b(B{}",
    "(B{}",
    "\x9b32m{}\x9b0m",
    "[K{}",
    "[2K{}",
    "[?25h{}",
    "[1A{}",
    "[38:5:196m{}",
    "0m{}",
    "1;31m{}",
    "\\\\u001b[32m{}",
    "%1B%5B32m{}",
    "=1B[32m{}",
    "&#27;[32m{}",
    "&#x1b;[32m{}",
    "%253D{}",
    "%250A{}",
    "&amp;quot;{}",
]


@pytest.mark.parametrize("around", AROUND)
def test_what_is_left_of_an_escape_lets_no_kind_through(around: str) -> None:
    for kind, sample in PREFIXED:
        text = example(sample)
        secret = secret_in(kind, text)
        shown = Redactor().text(around.format(text))
        assert secret not in shown and MASK in shown, (kind.name, shown)


@pytest.mark.parametrize("cut", range(1, 6))
def test_an_escape_that_is_cut_between_two_pieces_lets_no_kind_through(cut: int) -> None:
    for kind, sample in PREFIXED:
        text = f"\x1b[32m{example(sample)}\x1b[0m"
        secret = secret_in(kind, example(sample))
        stream = Redactor().stream()
        shown = stream.feed("log " + text[:cut]) + stream.feed(text[cut:]) + stream.flush()
        assert secret not in shown, kind.name
        # and where the pieces are events of their own
        assert secret not in Redactor().text(text[cut:]), kind.name


def test_colours_inside_a_token_do_not_hide_it_with_or_without_their_escape() -> None:
    for kind, sample in PREFIXED:
        secret = secret_in(kind, example(sample))
        middle = len(secret) // 2
        for colour in ("\x1b[1m", "[31m", "\\u001b[0m", "\\e[4m"):
            text = example(sample).replace(secret, f"{secret[:middle]}{colour}{secret[middle:]}")
            shown = Redactor().text(text)
            assert secret[middle:] not in shown and secret[:middle] not in shown, (kind.name, shown)


LEFT_OUT = {
    # they match inside base64, or ordinary names of accounts
    "ArtifactoryDetector",
    "TwilioKeyDetector",
    "CloudantDetector",
    "SoftlayerDetector",
    "IbmCosHmacDetector",
    "IbmCloudIamDetector",
    # any address
    "IPPublicDetector",
    # `://x:y@`, with passwords of one letter; and unsigned tokens of one letter
    "BasicAuthDetector",
    "JwtTokenDetector",
    # shapes without a length, or with a backslash in them; values that only the name beside them tells
    "NpmDetector",
    "SlackDetector",
    "SquareOAuthDetector",
    "AWSKeyDetector",
    "AzureStorageKeyDetector",
    # names a key file's head only, which code does as well
    "PrivateKeyDetector",
}


def detectors() -> Iterator[tuple[str, re.Pattern[str]]]:
    for found in pkgutil.iter_modules(detect_secrets.plugins.__path__):
        module = importlib.import_module(f"detect_secrets.plugins.{found.name}")
        for name, detector in vars(module).items():
            ours = isinstance(detector, type) and issubclass(detector, RegexBasedDetector)
            if ours and name not in LEFT_OUT and "denylist" in vars(detector):
                patterns = vars(detector)["denylist"]
                if not isinstance(patterns, property):
                    yield from ((name, pattern) for pattern in patterns)


DETECTORS = list(detectors())


@pytest.mark.parametrize(("name", "pattern"), DETECTORS, ids=[f"{n}-{at}" for at, (n, _) in enumerate(DETECTORS)])
@given(data=st.data())
@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
def test_what_detect_secrets_knows_is_hidden(name: str, pattern: re.Pattern[str], data: st.DataObject) -> None:
    printable = st.characters(min_codepoint=32, max_codepoint=126)
    found = data.draw(st.from_regex(pattern, fullmatch=True, alphabet=printable))
    assert MASK in Redactor().text(f" {found} "), found
