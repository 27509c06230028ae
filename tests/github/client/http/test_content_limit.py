"""Content is created no faster than GitHub allows."""

from typing import Any

import pytest

from github.client.errors import Paced
from github.client.http.content_limit import BESIDES, Creations, share_of
from github.client.repository import RepositoryHandle
from github.client.scopes import Scope
from tests.github.conftest import Spot, TestClock


async def test_a_flood_of_comments_meets_no_limit_of_githubs(
    spot: Spot, repository: RepositoryHandle, clock: TestClock
) -> None:
    number = await spot.issue()
    answers: list[int] = []

    def seen(template: str, method: str, status: int, _body: Any, _version: str) -> None:
        if method == "POST" and template.endswith("/comments"):
            answers.append(status)

    spot.local.observe(answers=seen)
    for each in range(100):
        body = {"body": f"comment {each}"}
        while True:
            try:
                await repository.request("POST", f"issues/{number}/comments", scope=Scope.TALK, json=body)
                break
            except Paced as limit:
                wait = limit.retry_at - repository.app.clock.now()
                assert 0 < wait <= 60
                await repository.app.clock.sleep(wait)
    assert answers == [201] * 100


async def test_what_is_paced_holds_nothing_else_up(spot: Spot, repository: RepositoryHandle) -> None:
    number = await spot.issue()
    with pytest.raises(Paced):
        for each in range(100):
            body = {"body": f"comment {each}"}
            await repository.request("POST", f"issues/{number}/comments", scope=Scope.TALK, json=body)
    await repository.get(f"issues/{number}")
    label = {"labels": ["x"]}
    await repository.request("POST", f"issues/{number}/labels", scope=Scope.TALK, json=label)


def test_an_hour_has_its_own_limit_and_what_nobody_waits_for_leaves_room_for_people() -> None:
    creations, now, made = Creations(), 1000.0, 0
    while now < 1000.0 + 3600:
        wait = creations.wait(now, BESIDES)
        made += not wait
        now += wait or 0.5
    assert made == int(450 * BESIDES)
    assert creations.wait(now, BESIDES) == 0.0  # the first of them is an hour old
    assert creations.wait(now, BESIDES) > 0
    assert creations.wait(now, 1.0) == 0.0


@pytest.mark.parametrize(
    ("method", "path", "share"),
    [
        ("POST", "/repos/o/r/issues/7/comments", 1.0),
        ("POST", "/repos/o/r/pulls/7/comments/9/replies", 1.0),
        ("POST", "/repos/o/r/pulls", 1.0),
        ("POST", "/repos/o/r/check-runs", BESIDES),
        ("PATCH", "/repos/o/r/issues/comments/9", 0.0),
        ("POST", "/repos/o/r/git/trees", 0.0),
        ("GET", "/repos/o/r/pulls", 0.0),
    ],
)
def test_only_what_makes_something_new_for_people_counts(method: str, path: str, share: float) -> None:
    assert share_of(method, path) == share
