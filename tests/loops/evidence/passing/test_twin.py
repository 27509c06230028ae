"""The log of the same job as it passed: what is new in the failing one floats up, whatever tool printed it."""

import random
from collections.abc import Iterator

import pytest

from loops.evidence import distill
from loops.evidence.passing.news import News
from loops.evidence.passing.twin import MOST, Twin, learn, load
from loops.evidence.recognise.match import TABLE
from loops.evidence.text.blocks import blocks
from tests.loops.evidence.logs import job, step
from tests.loops.evidence.pairs import Pair, pairs

UNKNOWN_TOOLS = frozenset(shape.tool for shape in TABLE)


def fresh(green: bytes, red: bytes) -> list[str]:
    """The lines of `red` that are new, without their times."""
    news = News(learn([green]))
    for block in blocks([red]):
        news.of(block)
    return [line.partition("Z ")[2] for number, line in enumerate(red.decode().splitlines(), 1) if news.is_new(number)]


def kept(pair: Pair, twin: Twin | None, without: frozenset[str]) -> tuple[int, int]:
    """How many of the marked lines are told; the excerpt's size."""
    excerpt = distill([pair.red], twin=twin, without=without).excerpt
    return sum(line in excerpt for line, _ in pair.wanted), len(excerpt.encode())


@pytest.mark.parametrize("without", [UNKNOWN_TOOLS, frozenset()], ids=["tools unknown", "tools known"])
def test_with_its_twin_a_failing_log_is_told_nearly_whole_also_where_no_tool_is_known(without: frozenset[str]) -> None:
    told = [kept(pair, learn([pair.green]), without) for pair in pairs()]
    wanted = sum(len(pair.wanted) for pair in pairs())
    assert sum(hits for hits, _ in told) / wanted >= 0.98
    sizes = [size for _, size in told]
    assert max(sizes) <= 16_000
    assert sum(sizes) / len(sizes) <= 12_000


def test_lines_that_differ_in_order_times_numbers_and_hashes_are_not_new() -> None:
    def lines(seed: int) -> Iterator[str]:
        chance = random.Random(seed)
        made = [
            f"worker-{chance.randint(1, 9)} took job {chance.getrandbits(64):016x} in {chance.random():.3f}s"
            for _ in range(50)
        ]
        made += [
            f"2026-03-0{seed}T10:{n:02}:07 test_{n % 7} PASSED [{n}%] /tmp/tmp{chance.getrandbits(30):x}"
            for n in range(50)
        ]
        chance.shuffle(made)
        yield from made

    green, red = (job(step("./run", list(lines(seed)))) for seed in (1, 2))
    assert fresh(green, red) == []


@pytest.mark.parametrize(
    ("green", "red"),
    [
        ("0 failed, 12 passed", "3 failed, 9 passed"),
        ("Failures: 0, Errors: 0", "Failures: 1, Errors: 0"),
        ("exit status 0", "exit status 2"),
        ("test_total PASSED", "test_total FAILED"),
    ],
)
def test_a_zero_is_not_like_other_numbers(green: str, red: str) -> None:
    assert fresh(job(step("./run", [green])), job(step("./run", [red]))) == [red]


def test_what_another_step_prints_while_all_is_well_is_new_in_this_one() -> None:
    soft = "lint: 3 problems that are let through"
    green = job(step("./lint", [soft]), step("./test", ["fine"]))
    red = job(step("./lint", [soft]), step("./test", ["fine", soft]))
    assert fresh(green, red) == [soft]


def test_a_line_without_any_word_of_failure_is_told_for_being_new() -> None:
    calm = [f"suite {n % 40} took {n} ms" for n in range(8_000)]
    odd = "suite 41 gave back its rope"
    red = job(step("./run", [*calm[:4_000], odd, *calm[4_000:6_000], odd, *calm[6_000:]], 1))
    assert odd not in distill([red]).excerpt
    assert odd in distill([red], twin=learn([job(step("./run", calm))])).excerpt


def test_errors_that_the_passing_job_prints_too_do_not_push_out_the_one_that_is_new() -> None:
    usual = [f"ERROR: could not load plugin {name}: not found" for name in ("red", "blue", "green", "gold") * 200]
    odd = "ERROR: basket lost its price"
    red = job(step("./run", [*usual, odd, *usual], 1))
    found = distill([red], twin=learn([job(step("./run", usual))]), budget=2_000)
    assert odd in found.excerpt


def test_a_twin_of_quite_another_job_changes_nothing() -> None:
    red = pairs()[0].red
    assert distill([red], twin=learn([b"nothing of this\n" * 50])) == distill([red])


def test_how_much_is_new_and_the_versions_that_differ_are_told_first() -> None:
    (pair,) = (pair for pair in pairs() if pair.name.startswith("nightly"))
    excerpt = distill([pair.red], twin=learn([pair.green])).excerpt
    head = excerpt.split("Lines of the full log")[0]
    assert "lines are new" in head
    assert "shapeline 3.0.0.dev20260226 -> 3.0.0.dev20260228 (the failure names it)" in head


def test_new_lines_that_differ_in_numbers_alone_are_told_to_be_alike() -> None:
    usual = [f"{name} is packed" for name in ("flour", "salt", "yeast", "rye") * 20]
    lost = [f"basket {n} was lost" for n in range(1, 31)]
    found = distill([job(step("./run", [*usual, *lost], 1))], twin=learn([job(step("./run", usual))]))
    # they, and the runner's mark of the error
    assert "31 of " in found.excerpt
    assert "lines are new, 2 of them unlike each other." in found.excerpt


def test_a_twin_is_small_and_comes_back_as_it_was_kept() -> None:
    for pair in pairs():
        twin = learn([pair.green])
        raw = twin.dump()
        assert len(raw) <= 8_000
        assert load(raw) == twin
    assert load(b"") is None
    assert load(b"0 of another form") is None


def test_a_log_of_endlessly_many_kinds_of_lines_makes_a_bounded_twin() -> None:
    chance = random.Random(4)
    letters = "ghijklmnop"
    log = "".join("".join(chance.choices(letters, k=12)) + "\n" for _ in range(3 * MOST)).encode()
    twin = learn([log])
    assert len(twin.templates) == MOST
    assert len(twin.and_(learn([log[::-1]])).templates) == MOST


def test_two_passing_logs_know_more_than_one() -> None:
    first, second = (learn([job(step("./run", [line]))]) for line in ("warm cache", "cold cache"))
    both = second.and_(first)
    assert both.templates == first.templates | second.templates


@pytest.mark.parametrize("size", [1, 700, 70_001])
def test_lines_are_numbered_alike_whatever_the_chunks(size: int) -> None:
    pair = pairs()[0]
    twin = learn([pair.green])
    red = pair.red if size > 1 else pair.red[-20_000:]
    chunks = [red[at : at + size] for at in range(0, len(red), size)]
    assert distill(chunks, twin=twin) == distill([red], twin=twin)
