import re

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from loops.evidence import distill
from loops.evidence.telling.merge import merge
from loops.evidence.text.blocks import blocks
from loops.evidence.text.normal import normal
from loops.secrets.redact import Redactor
from tests.loops.evidence.logs import job, step

PIECES = st.lists(
    st.one_of(
        st.binary(max_size=60),
        st.sampled_from(
            [
                b"\n",
                b"\r",
                b"\x00",
                b"\xef\xbb\xbf",
                b"\x1b[31m",
                b"\xff\xfe",
                b"2026-03-01T00:00:00.0000000Z ",
                b"##[group]Run x\n",
                b"##[error]Process completed with exit code 1.\n",
                b"E   assert 1 == 2\n",
                b"src/a.py:3: error: bad\n",
                b"FAILED tests/a.py::test_x - boom\n",
                b"Post job cleanup.\n",
                "fehler \u2028 error: \U0001f600\n".encode(),
            ]
        ),
    ),
    max_size=40,
)
FEW = settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])


@FEW
@given(PIECES, st.integers(min_value=1, max_value=4_000))
def test_any_bytes_give_valid_text_within_the_budget(pieces: list[bytes], budget: int) -> None:
    excerpt = distill(pieces, budget=budget).excerpt
    assert len(excerpt.encode()) <= budget


@FEW
@given(PIECES)
def test_the_cut_into_chunks_changes_nothing(pieces: list[bytes]) -> None:
    assert distill(pieces) == distill([b"".join(pieces)])


@FEW
@given(st.text(max_size=200))
def test_masking_twice_is_masking_once(text: str) -> None:
    assert normal(normal(text)) == normal(text)


@FEW
@given(
    st.sampled_from(["ghp_", "ghs_", "github_pat_", "sk-"]), st.text("abcdefXYZ0123456789", min_size=40, max_size=60)
)
def test_no_token_leaves(prefix: str, rest: str) -> None:
    token = prefix + rest
    log = job(
        step(f"curl -H 'Authorization: {token}'", [f"error: {token} was refused", f"FAILED a.py::test[{token}]"], 1)
    )
    found = distill([log], redact=Redactor().text)
    assert "error: " in found.excerpt
    assert rest not in str(found.to_json())


def test_a_private_key_in_a_log_is_masked_whole() -> None:
    body = ["MIIEpAIBAAKCAQEA" + "x7" * 20] * 4
    key = ["-----BEGIN RSA PRIVATE KEY-----", *body, "-----END RSA PRIVATE KEY-----", "error: bad key"]
    found = distill([job(step("deploy", key, 1))], redact=Redactor().text)
    assert "error: bad key" in found.excerpt
    assert "MIIE" not in found.excerpt


def test_a_line_of_fifty_megabytes_neither_breaks_nor_hides_the_failure() -> None:
    chunk = b"x" * 1_000_000
    found = distill([b"start\n", *[chunk] * 50, b"\n", job(step("make", ["error: the last word"], 2))])
    assert "error: the last word" in found.excerpt
    assert found.exit_code == 2
    assert max(map(len, blocks([chunk] * 50))) < 2_000_000


def test_a_failure_before_megabytes_of_noise_keeps_its_true_line_numbers() -> None:
    noise = [f"INFO worker {i} served, 0 errors" for i in range(60_000)]
    log = job(step("./check", ["src/app.py:7: error: Name 'x' is not defined  [name-defined]", *noise], 1))
    full = log.decode().split("\n")
    found = distill([log[i : i + 70_001] for i in range(0, len(log), 70_001)])
    assert "src/app.py:7: error" in found.excerpt
    for number, text in re.findall(r"^(\d+)\| (\S.*)$", found.excerpt, re.M):
        assert text in re.sub(r"\x1b\[[0-9;]*m", "", full[int(number) - 1])


def test_the_jobs_of_a_matrix_that_fail_alike_are_one_evidence() -> None:
    def run(root: str, port: int, took: str, sha: str) -> list[str]:
        failed = [
            f"{root}/tests/a.py:3: ConnectionError",
            f"E   ConnectionError: 127.0.0.1:{port} at 0x7f{sha} refused",
            f"FAILED tests/a.py::test_a - ConnectionError: 127.0.0.1:{port} refused",
            f"FAILED tests/b.py::test_b - assert '{sha}' in out",
        ]
        return [*failed, f"=== 2 failed, 9 passed in {took}s ==="]

    one = distill([job(step("pytest", run("/__w/r/r", 51234, "0.31", "3f2a9c1d4e"), 1), name="py3.11")])
    lines = run("/Users/runner/work/r/r", 40404, "12.90", "9b8c7d6e5f")
    two = distill([job(step("pytest", [lines[0], lines[1], lines[3], lines[2], lines[4]], 1), name="py3.12")])
    other = distill([job(step("pytest", ["FAILED tests/c.py::test_c - assert 1", "=== 1 failed in 1s ==="], 1))])
    merged = merge([("py3.11", one), ("py3.12", two), ("py3.13", other)])
    assert [evidence.jobs for evidence in merged] == [("py3.11", "py3.12"), ("py3.13",)]
