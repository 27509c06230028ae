"""Redaction: every spelling of a known secret, every shape of a token, wherever it hides."""

import base64
import html
import json
import re
import shlex
import string
import subprocess
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.secrets.encodings import parts_of
from loops.secrets.ordinary import is_ordinary
from loops.secrets.redact import MASK, Redactor

SECRET = 'p@ss/w"rd+Ünïque=99'
SPECIAL = 'it\'s a $ecret`with`<all>&\\ "of" it;{1,2}'
LONG_TOKEN = "ghs_123456_" + "eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.c2ln-bmF0_dXJl" * 3

SHAPES = {
    "classic personal token": "ghp_" + "a1B2" * 9,
    "old installation token": "ghs_" + "a1B2" * 9,
    "long installation token": LONG_TOKEN,
    "fine-grained token": "github_pat_" + "11ABCDEFG0_" + "x9" * 29,
    "user-to-server token": "ghu_" + "Z9y8" * 9,
    "OpenAI key": "sk-proj-" + "AbC_123-" * 8,
    "Anthropic key": "sk-ant-api03-" + "AbC_123-" * 8,
    "OpenRouter key": "sk-or-v1-" + "0123456789abcdef" * 4,
    "Google key": "AIza" + "b" * 35,
    "AWS key id": "AKIA" + "ABCD1234EFGH5678",
    "Groq key": "gsk_" + "a1" * 26,
    "Hugging Face token": "hf_" + "aB" * 17,
    "GitLab token": "glpat-" + "x" * 20,
    "Slack token": "xoxb-1234567890-abcdef",
    "JWT": "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiIxMjM0In0.c2lnbmF0dXJlLXBhcnQ",
    "private key": "-----BEGIN RSA PRIVATE KEY-----\nMIIEpAIBAAKCAQEA\n7bq2\n-----END RSA PRIVATE KEY-----",
    "private key in JSON": r"-----BEGIN PRIVATE KEY-----\nMIIEvQ\n-----END PRIVATE KEY-----\n",
    "private key cut off": "-----BEGIN OPENSSH PRIVATE KEY-----\nb3BlbnNzaC1rZXktdjE",
}


def spellings(secret: str) -> dict[str, str]:
    raw = secret.encode()
    return {
        "plain": secret,
        "json": json.dumps(secret)[1:-1],
        "json twice": json.dumps(json.dumps(secret))[1:-1],
        "json not ascii": json.dumps(secret, ensure_ascii=False)[1:-1],
        "url": quote(secret, safe=""),
        "url lower case": re.sub("%..", lambda match: match.group().lower(), quote(secret, safe="")),
        "base64": base64.b64encode(raw).decode(),
        "basic auth": base64.b64encode(b"x-access-token:" + raw).decode(),
        "basic auth, other alignment": base64.b64encode(b"user:" + raw + b":more").decode(),
        "third alignment": base64.b64encode(b"ab" + raw + b"c").decode(),
        "url-safe base64": base64.urlsafe_b64encode(raw).decode(),
        "hex": raw.hex(),
        "python": repr(secret)[1:-1],
        "json for html": re.sub("[<>&]", _as_code, json.dumps(secret)[1:-1]),
        "json for html, apostrophes too": re.sub("[<>&']", _as_code, json.dumps(secret)[1:-1]),
        "html": html.escape(secret),
        "html, decimal": html.escape(secret).replace("&#x27;", "&#39;"),
        "shell, single quotes": secret.replace("'", "'\\''"),
        "shell, as Python quotes": shlex.quote(secret)[1:-1],
        "shell, double quotes": re.sub(r'[\\"$`]', r"\\\g<0>", secret),
        "shell, printf %q": _bash("printf %q", secret),
    }


def _as_code(match: "re.Match[str]") -> str:
    return f"\\u{ord(match.group()):04x}"


def _bash(command: str, secret: str) -> str:
    words = ["bash", "-c", f'{command} "$1"', "bash", secret]
    return subprocess.run(words, capture_output=True, text=True, check=True, env={"LC_ALL": "C.UTF-8"}).stdout


@pytest.mark.parametrize("secret", [SECRET, SPECIAL], ids=["ordinary", "special"])
@pytest.mark.parametrize("name", spellings(SECRET))
def test_a_known_secret_is_found_in_each_spelling(name: str, secret: str) -> None:
    spelled = spellings(secret)[name]
    shown = Redactor([secret]).text(f"before {spelled} after")
    assert MASK in shown
    assert shown.startswith("before ") and shown.endswith(" after")
    assert spelled not in shown
    # what may stay of a base64 text are the few characters that also hold the neighbours
    assert len(shown) < len("before  after") + len(MASK) + 28


@pytest.mark.parametrize("name", SHAPES)
def test_a_token_shape_is_found_without_knowing_the_value(name: str) -> None:
    assert Redactor().text(f"token={SHAPES[name]}\n".rstrip()) == f"token={MASK}" or name == "private key in JSON"
    assert "MIIEvQ" not in Redactor().text(SHAPES[name])


KEY = "-----BEGIN KEY-----\n" + "\n".join(f"line{number}of+a/key=" * 3 for number in range(6)) + "\n-----END KEY-----\n"


@given(
    st.sampled_from([SECRET, "A1b2C3d4" * 12, KEY]),
    st.binary(max_size=80),
    st.sampled_from([("\n", 76), ("\r\n", 76), ("\n", 64), ("\n", 20)]),
    st.integers(min_value=1, max_value=200),
)
@settings(max_examples=100, deadline=None)
def test_base64_in_lines_is_found_wherever_the_lines_end(
    secret: str, before: bytes, wrapping: tuple[str, int], size: int
) -> None:
    encoded = base64.b64encode(before + secret.encode() + b" more").decode()
    end, width = wrapping
    text = end.join(encoded[at : at + width] for at in range(0, len(encoded), width))
    redactor = Redactor([secret])
    stream = redactor.stream()
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.flush()
    assert MASK in shown
    for told in (redactor.text(text), shown):
        left = "".join(told.replace(MASK, "").split())
        assert len(left) <= (len(before) + len(" more")) * 4 / 3 + 8, told


def test_a_line_is_shown_at_once_where_nothing_of_a_secret_can_have_begun_in_it() -> None:
    stream = Redactor([SHAPES["old installation token"]]).stream()
    assert base64.b64encode(b"ab" + SHAPES["old installation token"].encode())[3:4] == b"n"
    assert stream.feed("begun\n") == "begun\n"


def test_a_long_installation_token_leaves_nothing_behind_its_dots() -> None:
    assert Redactor().text(f"https://x-access-token:{LONG_TOKEN}@github.example/o/r") == (
        f"https://x-access-token:{MASK}@github.example/o/r"
    )


@pytest.mark.parametrize(
    "text",
    [
        "task-runner-with-a-long-name-in-it disk-usage-of-the-volume-1 ask-someone-about-this-thing",
        "self.ghost_writer(ghs_count) npm_config_registry hf_hub_download eyJust.a.word",
        "a commit 3f786850e387550fdab836ed7e6dc881de23001b and sha256:" + "ab" * 32,
        "-----BEGIN CERTIFICATE-----\nMIID\n-----END CERTIFICATE-----",
    ],
)
def test_ordinary_text_stays(text: str) -> None:
    assert Redactor(["another-secret-value"]).text(text) == text


@pytest.mark.parametrize(
    "text",
    [
        "word\x1b[32m{}\x1b[0m",
        "word\\u001b[1;31m{}\\u001b[0m",
        "\x1b]8;;https://x.example\x07{}\x1b]8;;\x07",
        "\x1b[38;5;196m{}",
    ],
)
@pytest.mark.parametrize("secret", [SHAPES["OpenAI key"], SHAPES["classic personal token"], "a-planted-secret"])
def test_a_secret_behind_an_escape_sequence_is_found(text: str, secret: str) -> None:
    shown = Redactor(["a-planted-secret"]).text(text.format(secret))
    assert secret not in shown
    assert shown == text.format(MASK)


def test_a_secret_with_escape_sequences_inside_is_found() -> None:
    coloured = "a-pla\x1b[1mnted-\x1b[0msecret and ghp_" + "\x1b[7m".join("a1B2" * 9)
    assert Redactor(["a-planted-secret"]).text(f"see {coloured}!") == f"see {MASK} and {MASK}!"


@pytest.mark.parametrize("secret", [SECRET, *SHAPES.values(), "two words of secret\nand a line"])
@pytest.mark.parametrize("size", [1, 3, 7, 64])
def test_a_secret_split_between_chunks_is_found(secret: str, size: int) -> None:
    text = f"start of it \x1b[31m{secret}\x1b[0m the end, and {secret}"
    redactor = Redactor([SECRET, "two words of secret\nand a line"])
    stream = redactor.stream()
    shown = "".join(stream.feed(text[at : at + size]) for at in range(0, len(text), size)) + stream.flush()
    assert secret not in shown
    assert shown == redactor.text(text)


@pytest.mark.parametrize(
    "sequence",
    [
        *("\x1b[32m", "\x1b[0m", "[32m", "[38;5;9m", "\x9b32m", "\\x1b[32m", "\\033[1;31m", "\\u001b[32m", "^[[32m"),
        *(
            "%1B[32m",
            "&#27;[32m",
            "\\u{1b}[32m",
            "\x1b]8;;http://x\x1b\\",
            "\x1b(B",
            "\x1b[?25l",
            "\x1b7",
            "\x1b\x1b[K",
        ),
        *("\u200b", "\x08", "\0", "\u2060", "\U000e0041"),
    ],
)
def test_a_secret_is_found_wherever_a_sequence_inside_of_it_is_cut(sequence: str) -> None:
    redactor = Redactor([SECRET])
    for secret in (SECRET, SHAPES["old installation token"]):
        text = f"see {secret[:9]}{sequence}{secret[9:]} here"
        for cut in range(1, len(text)):
            stream = redactor.stream()
            assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.flush() == f"see {MASK} here", cut


@pytest.mark.parametrize("gap", ["\\n", "%0A", "%3D", "&nbsp;", "&#8203;", "[K", "(B", "\\u0000"])
def test_a_given_secret_is_found_wherever_a_gap_inside_of_it_is_cut(gap: str) -> None:
    given = "q7Vt9xLm2Kd8Zr4Pq1Wn6Bs3"
    redactor = Redactor([given])
    text = f"see {given[:9]}{gap}{given[9:]} here"
    for cut in range(1, len(text)):
        stream = redactor.stream()
        assert stream.feed(text[:cut]) + stream.feed(text[cut:]) + stream.flush() == f"see {MASK} here", cut


def test_a_stream_goes_on_in_another_process() -> None:
    redactor = Redactor([SECRET])
    first = redactor.stream()
    shown = first.feed(f"x {SECRET[:7]}")
    second = type(first)(redactor, first.held)
    assert shown + second.feed(f"{SECRET[7:]} y ") + second.flush() == f"x {MASK} y "


def test_a_stream_does_not_hold_back_without_end() -> None:
    stream = Redactor().stream()
    shown = stream.feed("-----BEGIN PRIVATE KEY-----\n" + "QUJD" * 20_000)
    assert shown == MASK


@given(
    st.text(alphabet=string.ascii_letters + " \n\x1b[0m\\u-_.", max_size=60),
    st.text(alphabet=string.ascii_letters + ' "\\/ü', min_size=8, max_size=20).filter(
        lambda text: text.strip() == text and not is_ordinary(text)
    ),
    st.lists(st.integers(min_value=1, max_value=30), min_size=1, max_size=12),
)
@settings(max_examples=100, deadline=None)
def test_however_text_is_cut_no_secret_is_shown(around: str, secret: str, sizes: list[int]) -> None:
    stream = Redactor([secret]).stream()
    text = around + secret + around
    shown, at = "", 0
    for size in sizes:
        shown += stream.feed(text[at : at + size])
        at += size
    shown += stream.feed(text[at:]) + stream.flush()
    assert secret not in shown.replace(MASK, "\0")


def test_values_in_a_credentials_document_are_secrets_of_their_own() -> None:
    document = json.dumps({"tokens": {"access_token": "opaque-access-0001", "refresh_token": "opaque-refresh-0002"}})
    shown = Redactor([document]).text("sent opaque-access-0001 then opaque-refresh-0002")
    assert shown == f"sent {MASK} then {MASK}"


def test_short_values_are_not_looked_for() -> None:
    assert parts_of("abc") == set()
    assert Redactor(["test"]).text("a test of this") == "a test of this"


def test_every_string_of_a_json_value_is_redacted() -> None:
    event = {"text": f"say {SECRET}", "input": {SECRET: [SECRET, 1, None, True]}}
    assert Redactor([SECRET]).value(event) == {"text": f"say {MASK}", "input": {MASK: [MASK, 1, None, True]}}
