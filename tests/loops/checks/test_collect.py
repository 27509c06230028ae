"""Red checks of other CI services: what their check run or status says is all there is, and that is said."""

from dataclasses import replace
from typing import cast

import pytest

from github.checks.model import Check
from github.client.repository import RepositoryHandle
from loops.checks.collect import collect, failures, fingerprint
from loops.checks.distiller import Distiller
from tests.loops.checks.others import BUILDKITE, JENKINS


async def told(check: Check, *, budget: int = 16_000) -> str:
    found = await collect(
        cast(Distiller, None),
        cast(RepositoryHandle, None),
        [check],
        budget=budget,
        changed_files=(),
        redact=lambda text: text.replace("s3cret", "***"),
    )
    return found[0].distilled.excerpt


@pytest.mark.parametrize("check", [BUILDKITE, JENKINS], ids=lambda check: check.name)
async def test_a_check_of_another_service_says_that_its_log_was_not_read_and_where_it_is(check: Check) -> None:
    excerpt = await told(check)
    assert check.title in excerpt
    assert "Its log was not read" in excerpt
    assert f"It is at {check.url}" in excerpt


async def test_the_address_of_a_log_is_redacted_and_fits_the_budget() -> None:
    excerpt = await told(replace(BUILDKITE, url="https://ci.example.org/s3cret", title="broke " * 400), budget=1_000)
    assert "s3cret" not in excerpt
    assert excerpt.endswith("It is at https://ci.example.org/***\n")
    assert len(excerpt.encode()) <= 1_000


async def test_a_check_without_an_address_says_so_much_as_there_is() -> None:
    excerpt = await told(replace(JENKINS, url=""))
    assert excerpt.endswith("Its log was not read: a commit status has no log at GitHub.\n")


async def test_the_same_failure_of_another_build_has_the_same_name() -> None:
    names = set()
    for number in (812, 913):
        check = replace(BUILDKITE, url=f"https://buildkite.example.org/octo/app/builds/{number}")
        found = await collect(
            cast(Distiller, None),
            cast(RepositoryHandle, None),
            [check],
            budget=16_000,
            changed_files=(),
            redact=lambda text: text,
        )
        names.add(fingerprint(failures(found)))
    assert len(names) == 1
