"""No secret leaves with the evidence, wherever in a log it stood and however it was spelled."""

import base64
import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.evidence import Annotation, distill, distill_check
from loops.secrets.redact import Redactor
from tests.loops.evidence.logs import job, step

BODY = "Zq7Xv2Lm9Kp4Rt6Wy8Bn3Hc5Jd1Fg0Sa2Ue4Io6Pl8Qw0"
# as their providers make them, with a body that is easy to find again
TOKENS = (
    f"ghp_{BODY[:36]}",
    f"gho_{BODY[:36]}",
    f"ghs_{BODY[:36]}",
    f"ghs_123456_eyJhbGciOiJSUzI1NiJ9.eyJpc3MiOiIxMjM0NTYifQ.{BODY * 8}",
    f"github_pat_11ABCDEFG0{BODY}",
    f"sk-proj-{BODY}",
    f"sk-ant-api03-{BODY}",
    f"xoxb-1234567890-{BODY}",
    f"AIza{BODY[:35]}",
    f"glpat-{BODY[:20]}",
    f"npm_{BODY[:36]}",
)
KNOWN = "correct-horse/battery+staple="
SPELLINGS = (KNOWN, base64.b64encode(KNOWN.encode()).decode(), quote(KNOWN, safe=""), json.dumps(KNOWN)[1:-1])
REDACT = Redactor([KNOWN]).text
SECRETS = (*TOKENS, *SPELLINGS)


def leaked(text: str, secret: str) -> bool:
    """Whether any eighteen characters of it in a row are in the text."""
    return any(secret[i : i + 18] in text for i in range(len(secret) - 17))


@pytest.mark.parametrize("secret", SECRETS, ids=[f"{n}-{each[:8]}" for n, each in enumerate(SECRETS)])
def test_a_secret_in_any_part_of_a_log_does_not_leave(secret: str) -> None:
    log = job(
        step(
            f"deploy --token {secret}",
            [
                f"Error: {secret} was refused",
                f"FAILED tests/test_a.py::test_one[{secret}] - assert {secret!r} == 1",
                f"src/a.py:3: error: Name '{secret}' is not defined  [name-defined]",
                f"\x1b[31mfatal: could not push to https://x:{secret}@github.com/octo/repo\x1b[0m",
                f"##[error]{secret}: failed",
                f"10%\r20%\rerror: {secret}\rdone",
            ],
            1,
        )
    )
    notes = [
        Annotation("src/a.py", f"{secret} is wrong", 3, title=secret),
        Annotation(".github", f"{secret} failed", 1),
    ]
    found = distill([log], redact=REDACT, annotations=notes, failed_steps=["deploy"])
    assert "was refused" in found.excerpt
    assert not leaked(json.dumps(found.to_json(), ensure_ascii=False), secret)


@given(st.sampled_from(SECRETS), st.integers(0, 12_000), st.sampled_from(["", " ", "=", "x "]))
@settings(max_examples=120, deadline=None)
def test_a_secret_that_the_shortening_of_a_long_line_would_cut_does_not_leave(
    secret: str, before: int, around: str
) -> None:
    line = "Error: " + "ab, " * (before // 4) + around + secret + around + " cd," * 4_000
    found = distill([job(step("deploy", [line], 1))], redact=REDACT)
    assert "Error: ab, " in found.excerpt or before < 8
    assert not leaked(json.dumps(found.to_json(), ensure_ascii=False), secret)


def test_a_secret_on_the_edge_of_an_endless_line_does_not_leave() -> None:
    for place in (16_300, 16_380):
        line = ["Error: ", "a, " * (place // 3), TOKENS[4], " b," * 600_000, TOKENS[4], " c," * (place // 3), "\n"]
        found = distill(["".join(line).encode()], redact=REDACT)
        assert not leaked(str(found.to_json()), TOKENS[4])


@pytest.mark.parametrize("secret", SECRETS, ids=[f"{n}-{each[:8]}" for n, each in enumerate(SECRETS)])
def test_a_check_without_a_log_gives_no_secret_away(secret: str) -> None:
    found = distill_check(
        f"failed with {secret}",
        f"error: {secret}",
        f"src/a.py:1: error: {secret}",
        [Annotation(f"src/{secret}.py", f"bad {secret}", 1, title=secret)],
        redact=REDACT,
    )
    assert "failed with" in found.excerpt
    assert not leaked(json.dumps(found.to_json(), ensure_ascii=False), secret)
