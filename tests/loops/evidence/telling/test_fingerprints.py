"""One failure has one name: on every machine, in every run, in whatever order; and another failure has another."""

import itertools
import random
import re
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from loops.evidence import distill
from tests.loops.evidence.logs import job, step
from tests.loops.evidence.test_tools import EXIT_CODES, EXPECTED, output

HOSTED = str(Path("/home", "runner", "work"))  # where GitHub's own runners check out
ROOTS = (
    "/Users/runner/work/shop/shop",
    "/__w/shop/shop",
    f"{HOSTED}/fork-of-shop/fork-of-shop",
    "/opt/actions-runner/_work/shop/shop",
    "/github/workspace",
)


def varied(text: str, rng: random.Random) -> str:
    """The same output from another machine, another day: what a person would not call a difference is another."""
    text = text.replace("/__w/shop/shop", rng.choice(ROOTS))
    text = re.sub(r"(?<![\w.])\d+\.\d+(?= ?(?:s|ms|secs?|seconds)\b)", lambda _: f"{rng.uniform(0.01, 99):.2f}", text)
    text = re.sub(r"(?<![\w.])\d+(?= ?ms\b)", lambda _: str(rng.randint(1, 9_999)), text)
    text = re.sub(r"\b0x[0-9a-f]{4,}\b", lambda _: f"0x{rng.getrandbits(47):x}", text)
    text = re.sub(r"\b[0-9a-f]{40}\b", lambda _: f"{rng.getrandbits(160):040x}", text)
    text = re.sub(r"\b\d{4}-\d\d-\d\d(?=[T ])", lambda _: f"2027-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}", text)
    text = re.sub(r"\b\d\d:\d\d:\d\d\b", lambda _: f"{rng.randint(10, 23)}:{rng.randint(10, 59)}:00", text)
    text = re.sub(r"==\d+==", f"=={rng.randint(100, 99_999)}==", text)
    text = re.sub(r"(?<=\()\d{3,6}(?=\) panicked)", lambda _: str(rng.randint(100, 99_999)), text)
    return re.sub(r"(?<=line \d:)( +)\d+(?= (?:Segm|Abor|Kill))", lambda m: f"{m[1]}{rng.randint(100, 99_999)}", text)


def fingerprint(name: str, text: str, job_name: str = "test") -> str:
    before = step("npm ci", ["added 300 packages in 4s"])
    found = distill([job(before, step(f"./check {name}", text.split("\n"), EXIT_CODES.get(name, 1)), name=job_name)])
    return found.fingerprint


@pytest.mark.parametrize("name", sorted(EXPECTED))
def test_a_tool_s_failure_has_the_same_name_on_another_machine_and_day(name: str) -> None:
    text = "\n".join(output(name))
    rng = random.Random(name)
    one = fingerprint(name, text)
    assert {fingerprint(name, varied(text, rng), f"test ({n})") for n in range(3)} == {one}


@pytest.mark.parametrize("root", ["/__w/shop/shop", "/github/workspace"])
@pytest.mark.parametrize(
    "line",
    [
        "..FF{root}/tests/test_shop.py:18: ResourceWarning: unclosed <socket.socket fd=3>",
        'fatal: [localhost]: FAILED! => {{"msg": "Could not find it\\nSearched in:\\n\\t{root}/files/a"}}',
    ],
)
def test_a_checkout_s_place_is_no_part_of_the_name_in_the_midst_of_a_word_either(line: str, root: str) -> None:
    home = f"{HOSTED}/shop/shop"
    assert fingerprint("it", line.format(root=root)) == fingerprint("it", line.format(root=home))


def test_a_runner_s_temporary_folder_is_no_part_of_the_name() -> None:
    line = "{}/_temp/ab.sh: line 1:  2811 Killed                  python train.py"
    hosts = (HOSTED, "/__w", "/opt/actions-runner/_work")
    assert len({fingerprint("it", line.format(host)) for host in hosts}) == 1


def test_different_failures_have_different_names() -> None:
    prints: dict[str, str] = {}
    for name in EXPECTED:
        prints.setdefault(fingerprint("it", "\n".join(output(name))), name)
    assert len(prints) > 0.9 * len(EXPECTED)


@given(st.randoms(use_true_random=False), st.integers(2, 30))
@settings(max_examples=25, deadline=None)
def test_the_order_in_which_tests_fail_makes_no_difference(rng: random.Random, count: int) -> None:
    failures = [
        [f"src/{n}.py:{n}: error: Name {chr(97 + n)!r} is not known", f"widget {chr(97 + n)}: Error: too {n} to sew"]
        for n in range(min(count, 24))
    ]
    one = fingerprint("it", "\n".join(itertools.chain(*failures)))
    rng.shuffle(failures)
    assert fingerprint("it", "\n".join(itertools.chain(*failures))) == one


def test_the_files_that_a_turn_changed_make_no_difference() -> None:
    log = job(step("./sew", ["widget a: Error: seam of src/a.py is open", "widget b: failed"], 1))
    prints = {distill([log], changed_files=files).fingerprint for files in ((), ("src/a.py",), ("b", "widget"))}
    assert len(prints) == 1


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("connect to 10.0.0.7:5432 failed", "connect to 10.1.9.200:49152 failed"),
        ("listen on [::1]:8080 failed", "listen on [fe80::7]:9090 failed"),
        ("object at 0x7f3a2c failed", "object at 0xdeadbeef0001 failed"),
        ("build of 3f2a9c1d4e5b failed", "build of 9b8c7d6e5f4a failed"),
        ("failed after 3.21s", "failed after 2 minutes"),
        ("failed at 2026-03-01T10:00:00.123Z", "failed at 2027-12-31 23:59:59+01:00"),
        ("see /tmp/tmpab12/x.log: failed", "see /var/folders/q1/z9/T/tmpzz/x.log: failed"),
        ("job 123e4567-e89b-12d3-a456-426614174000 failed", "job 00000000-0000-4000-8000-00000000000f failed"),
        ("sha256:" + "ab" * 32 + " failed", "sha256:" + "0c" * 32 + " failed"),
        ("http://localhost:3000/ failed", "http://localhost:41233/ failed"),
        ("run 8123456789 failed with 12 kB", "run 9923456780 failed with 3.4 MB"),
        (r"D:\a\shop\shop\src\a.cs: failed", f"{HOSTED}/shop/shop/src/a.cs: failed"),
        (rf'{{"msg": "none of\n\t{HOSTED}/s/s/a.j2"}}', r'{"msg": "none of\n\t/__w/s/s/a.j2"}'),
    ],
)
def test_what_differs_from_run_to_run_makes_no_difference(one: str, other: str) -> None:
    assert fingerprint("it", f"Error: {one}") == fingerprint("it", f"Error: {other}")


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Error: cannot sew the hem", "Error: cannot sew the seam"),
        ("FAILED tests/test_a.py::test_one - assert 1", "FAILED tests/test_a.py::test_two - assert 1"),
        ("src/a.py:3: error: bad  [x]", "src/b.py:3: error: bad  [x]"),
        ("npm error code E404\nnpm error 404 no lodahs", "npm error code E404\nnpm error 404 no reactt"),
    ],
)
def test_another_cause_makes_a_difference(one: str, other: str) -> None:
    assert fingerprint("it", one) != fingerprint("it", other)
