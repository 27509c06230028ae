"""Nothing is green without the work: what the local GitHub cannot do fails the job, in words."""

import shutil
from pathlib import Path

import pytest

from tests.github.emulator.actions.test_engine import jobs_of, log_of
from tests.github.emulator.actions.test_identity import pushed
from tests.github.emulator.house import REPO, House


@pytest.fixture
async def token(house: House) -> str:
    house.installation.permissions["workflows"] = "write"
    return await house.token()


def job(body: str) -> str:
    return f"on: push\njobs:\n  a:\n    runs-on: ubuntu-latest\n{body}"


@pytest.mark.parametrize(
    ("body", "words"),
    [
        ("    steps: [{uses: someone/unknown@v1}]", "someone/unknown@v1 is an action that the local GitHub cannot run"),
        ("    steps: [{uses: ./tool}]", "Can't find 'action.yml' or 'action.yaml' under './tool'"),
        ("    steps: [{uses: actions/checkout@v4, with: {repository: acme/none}}]", "acme/none is not on the local"),
        ("    services: {db: {image: postgres}}\n    steps: [{run: 'true'}]", "it cannot do `services:`"),
        ("    container: python:3.13\n    steps: [{run: 'true'}]", "it cannot do `container:`"),
        (
            "    steps: [{uses: actions/cache@v4, with: {key: k, fail-on-cache-miss: true}}]",
            "fail-on-cache-miss is set",
        ),
        ("    steps: [{uses: actions/setup-java@v4}]", "there is no java on this machine"),
    ],
)
async def test_what_is_not_done_here_fails_and_says_so(
    house: House, token: str, body: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    which = shutil.which
    monkeypatch.setattr(shutil, "which", lambda name: None if name == "java" else which(name))
    run, [only] = await pushed(house, token, job(body))
    assert (run["conclusion"], only["conclusion"]) == ("failure", "failure")
    assert words in await log_of(house, token, only["id"])


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        ("{runs-on: ubuntu-latest, strategy: {matrix: {n: []}}, steps: [{run: a}]}", "does not contain any values"),
        ("{runs-on: '${{ matrix.os }}', steps: [{run: 'true'}]}", "Unexpected value ''"),
        ("{runs-on: ubuntu-latest, if: 'fromJSON(github.ref)', steps: [{run: 'true'}]}", "fromJSON"),
        ("{runs-on: '${{ fromJSON(github.ref) }}', steps: [{run: 'true'}]}", "fromJSON"),
        ("{runs-on: ubuntu-latest, concurrency: '${{ fromJSON(github.ref) }}', steps: [{run: 'true'}]}", "fromJSON"),
        ("{runs-on: ubuntu-latest, environment: '${{ fromJSON(github.ref) }}', steps: [{run: 'true'}]}", "fromJSON"),
    ],
)
async def test_a_job_that_cannot_be_evaluated_fails_alone_and_ends_before_its_run_does(
    house: House, token: str, bad: str, words: str
) -> None:
    workflow = f"on: push\njobs:\n  a: {{runs-on: ubuntu-latest, steps: [{{run: sleep 0.3}}]}}\n  bad: {bad}\n"
    run, jobs = await pushed(house, token, workflow)
    assert run["conclusion"] == "failure"
    assert {each["name"]: each["conclusion"] for each in jobs} == {"a": "success", "bad": "failure"}
    check = next(each["id"] for each in jobs if each["name"] == "bad")
    [said] = (await house.ask("GET", f"{REPO}/check-runs/{check}/annotations", token)).json()
    assert words in said["message"]


async def test_a_job_whose_runner_is_not_here_fails_and_names_it(house: House, token: str) -> None:
    asked = {
        "latest": ("ubuntu-latest", ""),
        "list": ("[Ubuntu-24.04]", ""),
        "labels": ("{labels: ubuntu-22.04}", ""),
        "windows": ("windows-2025", "no runner labelled windows-2025"),
        "macos": ("macos-latest", "no runner labelled macos-latest"),
        "arm": ("ubuntu-24.04-arm", "no runner labelled ubuntu-24.04-arm"),
        "own": ("[self-hosted, gpu]", "no runner labelled self-hosted, gpu"),
        "both": ("[ubuntu-latest, gpu]", "no runner labelled ubuntu-latest, gpu"),
        "retired": ("ubuntu-18.04", "no runner labelled ubuntu-18.04"),
        "group": ("{group: large, labels: ubuntu-latest}", "no runner group large"),
        "expression": ("""${{ fromJSON('{"group":"large"}') }}""", "no runner group large"),
    }
    rows = [f"  {name}:\n    runs-on: {wanted}\n    steps: [{{run: 'true'}}]\n" for name, (wanted, _) in asked.items()]
    _, jobs = await pushed(house, token, "on: push\njobs:\n" + "".join(rows))
    assert {each["name"] for each in jobs} == set(asked)
    for each in jobs:
        words = asked[each["name"]][1]
        assert (each["name"], each["conclusion"]) == (each["name"], "failure" if words else "success")
        assert words in await log_of(house, token, each["id"])


async def test_the_workspace_is_empty_until_a_step_checks_out(house: House, token: str) -> None:
    body = """    steps:
      - run: test "$PWD" = "$GITHUB_WORKSPACE" -a -z "$(ls -A)"
      - {uses: actions/checkout@v5, with: {path: below/here}}
      - run: test "$(ls -A)" = below && git -C below/here rev-parse HEAD && test -f below/here/a.txt
      - {uses: Actions/Checkout@main, with: {ref: main}}
      - run: test -f a.txt -a ! -e below && git rev-parse HEAD
      - {uses: actions/checkout@v4, with: {path: ../out}, continue-on-error: true, id: outside}
      - run: test "${{ steps.outside.outcome }}" = failure -a ! -e ../out
"""
    run, [only] = await pushed(house, token, job(body))
    assert run["conclusion"] == "success", await log_of(house, token, only["id"])


async def test_composite_actions_of_the_repository_are_run(house: House, token: str) -> None:
    action = """
inputs: {word: {default: none}}
outputs: {back: {value: "${{ steps.s.outputs.back }}"}}
runs:
  using: composite
  steps:
    - {id: s, shell: bash, run: 'echo "back=${{ inputs.word }}" >> "$GITHUB_OUTPUT"'}
    - {shell: bash, run: 'test "${{ inputs.word }}" != bad'}
"""
    steps = """    steps:
      - uses: actions/checkout@v4
      - {id: one, uses: ./tool, with: {word: good}}
      - run: test "${{ steps.one.outputs.back }}" = good
      - {uses: ./tool, with: {word: bad}, continue-on-error: true}
      - run: echo reached
"""
    run, [only] = await pushed(house, token, job(steps), **{"tool/action.yml": action})
    assert run["conclusion"] == "success", await log_of(house, token, only["id"])
    steps += "      - {uses: ./tool, with: {word: bad}}\n"
    run, _ = await pushed(house, token, job(steps), **{"tool/action.yml": action})
    assert run["conclusion"] == "failure"


async def test_an_environment_by_expression_and_a_hash_of_files(house: House, token: str) -> None:
    body = """    strategy: {matrix: {env: [{WORD: one}]}}
    steps:
      - uses: actions/checkout@v4
      - {run: 'test "$WORD" = one', env: "${{ matrix.env }}"}
      - run: test "${{ hashFiles('a.*') }}" != "" -a "${{ hashFiles('none') }}" = ""
"""
    run, [only] = await pushed(house, token, job(body))
    assert run["conclusion"] == "success", await log_of(house, token, only["id"])


async def test_artifacts_go_from_job_to_job_and_can_be_fetched(house: House, token: str, tmp_path: Path) -> None:
    workflow = """
on: push
jobs:
  a:
    runs-on: ubuntu-latest
    steps:
      - run: mkdir -p out && echo told > out/said.txt
      - {uses: actions/upload-artifact@v4, with: {name: said, path: out}}
  b:
    needs: a
    runs-on: ubuntu-latest
    steps:
      - {uses: actions/download-artifact@v4, with: {name: said, path: in}}
      - run: grep told in/said.txt
"""
    run, jobs = await pushed(house, token, workflow)
    assert run["conclusion"] == "success", await log_of(house, token, jobs[-1]["id"])
    found = (await house.ask("GET", f"{REPO}/actions/runs/{run['id']}/artifacts", token)).json()
    assert [row["name"] for row in found["artifacts"]] == ["said"]
    away = await house.ask("GET", f"{REPO}/actions/artifacts/{found['artifacts'][0]['id']}/zip", token)
    assert away.status_code == 302 and away.headers["location"].startswith(house.local.logs_url)


async def test_the_token_of_a_job_pushes_what_it_may_and_starts_nothing(house: House, token: str) -> None:
    body = """    permissions: {contents: write}
    steps:
      - uses: actions/checkout@v4
      - run: |
          echo formatted > formatted.txt
          git add formatted.txt
          git -c user.name=x -c user.email=x@example.com commit -qm "Format"
          git push -q origin HEAD:refs/heads/formatted
"""
    run, [only] = await pushed(house, token, job(body))
    assert run["conclusion"] == "success", await log_of(house, token, only["id"])
    head = (await house.ask("GET", f"{REPO}/git/ref/heads/formatted", token)).json()["object"]["sha"]
    assert head != run["head_sha"]
    found = (await house.ask("GET", f"{REPO}/actions/runs?head_sha={head}", token)).json()
    assert found["total_count"] == 0
    run, [only] = await pushed(house, token, job(body.replace("contents: write", "contents: read")))
    assert run["conclusion"] == "failure"
    assert "Permission to acme/widgets.git denied to github-actions[bot]" in await log_of(house, token, only["id"])
    assert (await jobs_of(house, token, run["id"]))[0]["conclusion"] == "failure"


async def test_a_job_that_takes_too_long_is_cancelled_and_says_so_at_its_check(house: House, token: str) -> None:
    run, [only] = await pushed(house, token, job("    timeout-minutes: 0.005\n    steps: [{run: sleep 60}]"))
    assert (run["conclusion"], only["conclusion"]) == ("cancelled", "cancelled")
    path = f"{REPO}/check-runs/{only['id']}/annotations"
    said = [row["message"] for row in (await house.ask("GET", path, token)).json()]
    assert any(text.startswith("The job has exceeded the maximum execution time of ") for text in said)
