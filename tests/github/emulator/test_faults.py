"""What was just written is not there yet, CI comes late or never, and a run may be redder than its jobs."""

from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any

import pytest

from github.emulator.faults import KINDS, LAGS, Faults
from tests.github.emulator.house import REPO, House


@pytest.fixture
async def token(house: House) -> str:
    return await house.token()


async def runs(house: House, token: str, sha: str) -> list[dict[str, Any]]:
    rows: list[dict[str, Any]] = (await house.ask("GET", f"{REPO}/actions/runs?head_sha={sha}", token)).json()[
        "workflow_runs"
    ]
    return rows


async def open_pull(house: House, token: str, head: str) -> Any:
    return await house.ask("POST", f"{REPO}/pulls", token, json={"title": "t", "head": head, "base": "main"})


async def test_a_ref_just_made_is_not_read_at_first_and_an_old_one_always_is(house: House, token: str) -> None:
    house.local.hub.faults.lag("ref", calls=2)
    await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    for path in (f"{REPO}/git/ref/heads/topic", f"{REPO}/branches/topic"):
        assert (await house.ask("GET", path, token)).status_code == 404
    assert (await house.ask("GET", f"{REPO}/git/ref/heads/topic", token)).status_code == 200
    assert (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).status_code == 200


async def test_a_pull_request_of_a_branch_just_pushed_has_no_commits_at_first(house: House, token: str) -> None:
    house.local.hub.faults.lag("pull*", calls=1)
    await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    refused = await open_pull(house, token, "topic")
    assert refused.status_code == 422
    assert refused.json()["errors"][0]["message"] == "No commits between main and topic"
    assert (await open_pull(house, token, "topic")).status_code == 201
    assert [(await house.ask("GET", f"{REPO}/pulls/1", token)).status_code for _ in range(2)] == [404, 200]


async def test_a_lag_in_calls_ends_by_itself_where_nobody_asks_for_long(house: House, token: str) -> None:
    house.local.hub.faults.lag("ref", calls=9)
    await house.commit(token, "topic", {"b.txt": "x"}, base="main")
    assert (await house.ask("GET", f"{REPO}/git/ref/heads/topic", token)).status_code == 404
    house.local.hub.clock.advance(61)
    assert (await house.ask("GET", f"{REPO}/git/ref/heads/topic", token)).status_code == 200


async def test_a_lag_in_seconds_ends_by_itself(house: House, token: str) -> None:
    house.local.hub.faults.lag("pull", seconds=30)
    await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    assert [(await open_pull(house, token, "topic")).status_code for _ in range(3)] == [422] * 3
    house.local.hub.clock.advance(31)
    assert (await open_pull(house, token, "topic")).status_code == 201


async def test_moving_a_ref_may_fail_now_and_then(house: House, token: str) -> None:
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/main", token)).json()["object"]["sha"]
    house.local.hub.faults.lag("ref_update", calls=1)
    body = {"ref": "refs/heads/x", "sha": head}
    refused = await house.ask("POST", f"{REPO}/git/refs", token, json=body)
    assert (refused.status_code, refused.json()["message"]) == (422, "Reference update failed")
    assert (await house.ask("POST", f"{REPO}/git/refs", token, json=body)).status_code == 201


async def test_lists_leave_out_what_is_just_made(house: House, token: str) -> None:
    house.local.hub.faults.lag("[cr]*s", calls=1)
    issue = (await house.ask("POST", f"{REPO}/issues", token, json={"title": "t"})).json()["number"]
    await house.ask("POST", f"{REPO}/issues/{issue}/comments", token, json={"body": "b"})
    path = f"{REPO}/issues/{issue}/comments"
    assert [len((await house.ask("GET", path, token)).json()) for _ in range(2)] == [0, 1]
    sha = await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    await house.local.idle()
    assert [len(await runs(house, token, sha)) for _ in range(2)] == [0, 1]
    checks = f"{REPO}/commits/{sha}/check-runs"
    assert [(await house.ask("GET", checks, token)).json()["total_count"] for _ in range(2)] == [0, 1]


async def test_runs_start_as_late_as_a_fault_says_and_idle_waits_for_them(house: House, token: str) -> None:
    house.local.hub.faults.ci_delay(0.3, event="push")
    sha = await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    assert await runs(house, token, sha) == []
    await house.local.idle()
    assert [run["conclusion"] for run in await runs(house, token, sha)] == ["success"]


async def test_a_lost_run_never_comes(house: House, token: str) -> None:
    house.local.hub.faults.lost("run")
    first = await house.commit(token, "one", {"b.txt": "1\n"}, base="main")
    second = await house.commit(token, "two", {"b.txt": "2\n"}, base="main")
    await house.local.idle()
    assert await runs(house, token, first) == []
    assert len(await runs(house, token, second)) == 1


@pytest.mark.parametrize("conclusion", ["failure", "startup_failure"])
async def test_a_run_can_be_red_although_every_job_of_it_is_green(house: House, token: str, conclusion: str) -> None:
    house.local.add_fault("ci_conclusion", path="*/ci.yml", conclusion=conclusion)
    sha = await house.commit(token, "topic", {"b.txt": "x\n"}, base="main")
    await house.local.idle()
    [run] = await runs(house, token, sha)
    jobs = (await house.ask("GET", f"{REPO}/actions/runs/{run['id']}/jobs", token)).json()["jobs"]
    suites = (await house.ask("GET", f"{REPO}/commits/{sha}/check-suites", token)).json()["check_suites"]
    assert run["conclusion"] == conclusion
    assert [job["conclusion"] for job in jobs] == ["success"]
    assert conclusion in [suite["conclusion"] for suite in suites]


def test_a_fault_that_is_not_known_is_refused_with_those_that_are() -> None:
    faults = Faults()
    with pytest.raises(ValueError, match=r"unknown fault 'lagg': one of error, .*lag"):
        faults.add("lagg")
    with pytest.raises(ValueError, match="unknown lag 'refs': one of ref, ref_update"):
        faults.lag("refs")
    with pytest.raises(ValueError, match="'job' cannot be lost: one of answer, webhook, run"):
        faults.lost("job")


@pytest.mark.parametrize("name", [*KINDS, *LAGS])
def test_the_page_about_the_local_github_has_every_fault(name: str) -> None:
    page = (Path(__file__).parents[3] / "docs/local-github.md").read_text()
    assert f"`{name}`" in page or f"={name}`" in page


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("lag,what=pull,calls=3", ""),
        ("ci_delay,seconds=2.5", ""),
        ("lag,wat=pull", "a fault has no option 'wat': one of method, path"),
        ("slow,seconds=soon", "seconds=soon: a number was expected"),
        ("late", "unknown fault 'late'"),
    ],
)
async def test_a_person_adds_and_clears_faults_on_a_page(house: House, text: str, words: str) -> None:
    url, here = "/settings/faults", {"Origin": house.local.web_url}
    answer = await house.http.post(url, data={"rule": text}, headers=here)
    assert (answer.status_code, words in answer.text) == (422 if words else 303, True)
    shown = (await house.http.get(url)).text
    assert ("none: everything works" in shown) is bool(words)
    assert words or text.split(",")[0] in [rule.kind for rule in house.local.hub.faults.rules]
    await house.http.post(url, data={"clear": "yes"}, headers={"Origin": "http://evil.example"})
    assert bool(house.local.hub.faults.rules) is not bool(words)
    await house.http.post(url, data={"clear": "yes"}, headers=here)
    assert house.local.hub.faults.rules == []


@pytest.mark.parametrize("ahead", [200, -200])
async def test_every_answer_is_dated_by_githubs_own_clock(house: House, token: str, ahead: float) -> None:
    answer = await house.http.post(f"{house.local.web_url}/_local/clock", json={"offset": ahead})
    assert answer.status_code == 201
    for path in ("/repos/acme/widgets", "/", "/acme/widgets.git/info/refs?service=git-upload-pack"):
        answer = await house.http.get(path, headers={"Authorization": f"token {house.carol.token}"})
        dates = answer.headers.get_list("date")
        assert len(dates) == 1
        away = parsedate_to_datetime(dates[0]) - house.local.hub.clock.now()
        assert abs(away.total_seconds()) < 60
