"""Workflow files in, plans out."""

import pytest

from loops.preparation.plan import Bring, Lack
from loops.preparation.run_steps import RunStep
from tests.loops.preparation.plans import planned, plans


def test_steps_become_commands_with_the_folder_shell_and_environment_that_github_gives_them() -> None:
    plan = plans("""
        on: push
        env: {LEVEL: workflow, KEPT: "1"}
        defaults: {run: {shell: bash}}
        jobs:
          test:
            runs-on: ubuntu-latest
            env: {LEVEL: job}
            defaults: {run: {working-directory: web}}
            steps:
              - uses: actions/checkout@v4
              - {name: Unit, run: npm test, env: {LEVEL: "${{ env.LEVEL }} step"}}
              - {run: ls, shell: sh, working-directory: docs}
    """)[0]
    unit, listing = plan.commands
    assert plan.is_complete
    assert plan.env == {"LEVEL": "job", "KEPT": "1"}
    assert (unit.title, unit.run, unit.step, unit.shell, unit.directory) == ("Unit", "npm test", 1, "bash", "web")
    assert unit.env == {"LEVEL": "job step"}
    assert (listing.step, listing.shell, listing.directory) == (2, "sh", "docs")


def test_each_row_of_a_matrix_is_a_plan_by_the_name_that_github_shows() -> None:
    found = plans("""
        on: push
        jobs:
          test:
            strategy: {matrix: {python: ["3.11", "3.12"], os: [ubuntu-latest, windows-latest]}}
            runs-on: ${{ matrix.os }}
            steps:
              - {uses: actions/setup-python@v5, with: {python-version: "${{ matrix.python }}"}}
              - run: tox -e py${{ matrix.python }}
    """)
    by_name = {plan.name: plan for plan in found}
    linux = by_name["test (3.12, ubuntu-latest)"]
    assert linux.commands[0].run == "tox -e py3.12"
    assert [(each.name, each.version) for each in linux.needs] == [("python", "3.12")]
    assert [str(each) for each in by_name["test (3.12, windows-latest)"].missing] == [
        "another runner than one of Linux: windows-latest"
    ]


def test_a_composite_action_of_the_repository_is_unrolled_with_its_inputs_and_outputs() -> None:
    action = """
        inputs: {folder: {default: src}}
        outputs: {where: {value: "${{ steps.find.outputs.path }}"}}
        runs:
          using: composite
          steps:
            - {uses: actions/setup-node@v4, with: {node-version: 22}}
            - {id: find, shell: bash, run: 'echo path=${{ inputs.folder }} >> "$GITHUB_OUTPUT"'}
    """
    plan = planned(
        """
        - {id: prepare, uses: ./.github/actions/prepare, with: {folder: lib}}
        - run: make -C ${{ steps.prepare.outputs.where }}
        """,
        files={".github/actions/prepare/action.yml": action},
    )
    assert plan.is_complete
    assert [each.name for each in plan.needs] == ["node"]
    assert [(each.id, each.step) for each in plan.commands] == [("prepare-find", 0), ("__1", 1)]
    assert "path=lib" in plan.commands[0].run
    assert plan.commands[1].run == "make -C ${{ steps.prepare-find.outputs.path }}"


def test_a_workflow_that_a_job_calls_is_planned_with_the_inputs_given_and_named_as_github_does() -> None:
    callee = """
        on: {workflow_call: {inputs: {level: {default: low, type: string}, fast: {type: boolean, default: true}}}}
        jobs:
          unit: {runs-on: ubuntu-latest, steps: [{run: "test ${{ inputs.level }} ${{ inputs.fast }}"}]}
    """
    text = """
        on: push
        jobs:
          all: {uses: ./.github/workflows/unit.yml, with: {level: high}}
          far: {uses: other/place/.github/workflows/unit.yml@main}
    """
    own, far = plans(text, {".github/workflows/unit.yml": callee})
    assert (own.name, own.commands[0].run) == ("all / unit", "test high true")
    assert [str(each) for each in far.missing] == [
        "a workflow that cannot be read: other/place/.github/workflows/unit.yml@main"
    ]


def test_caches_and_reports_are_nothing_and_a_cache_never_hits() -> None:
    plan = planned("""
        - {id: cache, uses: actions/cache@v4, with: {path: x, key: "${{ hashFiles('a') }}-${{ secrets.KEY }}"}}
        - {run: npm ci, if: "steps.cache.outputs.cache-hit != 'true'"}
        - {uses: codecov/codecov-action@v5, with: {token: "${{ secrets.CODECOV_TOKEN }}"}}
        - {run: send, if: failure()}
    """)
    assert plan.is_complete
    assert [each.run for each in plan.commands] == ["npm ci"]


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ("{uses: docker://alpine}", "Docker: docker://alpine"),
        ("{uses: docker/build-push-action@v6}", "Docker: docker/build-push-action"),
        ("{run: docker compose up -d}", "Docker: docker compose"),
        ("{run: deploy, env: {KEY: '${{ secrets.DEPLOY_KEY }}'}}", "the secret DEPLOY_KEY"),
        ("{run: 'deploy ${{ secrets.DEPLOY_KEY }}'}", "the secret DEPLOY_KEY"),
        ("{run: 'echo ${{ vars.REGION }}'}", "the variable of the repository's settings REGION"),
        ("{uses: unheard/of@v1}", "an action without a replacement here: unheard/of@v1"),
        ("{uses: ./.github/actions/gone}", "a file that is not in the repository: ./.github/actions/gone/action.yml"),
        ("{run: sudo sysctl -w vm.max_map_count=1}", "rights of the system's administrator: sudo sysctl"),
        ("{run: dir, shell: cmd}", "a shell of another system: cmd"),
        ("{run: 'test ${{ needs.build.outputs.name }}'}", "a value that only GitHub knows: needs.build.outputs.name"),
    ],
)
def test_what_a_box_does_not_have_is_named(step: str, said: str) -> None:
    assert [str(each) for each in planned(f"- {step}").missing] == [said]


def test_the_jobs_own_token_is_no_secret_and_what_a_skipped_step_wanted_is_not_missed() -> None:
    plan = planned("""
        - {run: npm test, env: {GITHUB_TOKEN: "${{ secrets.GITHUB_TOKEN }}"}}
        - {run: publish, if: "github.ref == 'refs/tags/v1'", env: {KEY: "${{ secrets.NPM }}"}}
    """)
    assert plan.is_complete
    assert plan.commands[0].env == {"GITHUB_TOKEN": ""}


def test_what_an_earlier_step_sets_is_left_for_the_run_to_tell() -> None:
    plan = planned("""
        - run: echo "${{ env.MODE }}"
        - {id: one, run: 'echo "MODE=x" >> $GITHUB_ENV; echo "file=y" >> $GITHUB_OUTPUT'}
        - {run: 'use ${{ env.MODE }} ${{ steps.one.outputs.file }}', if: "${{ env.MODE == 'x' }}"}
    """)
    assert plan.is_complete
    assert plan.commands[0].run == 'echo ""'
    assert plan.commands[2].run == "use ${{ env.MODE }} ${{ steps.one.outputs.file }}"


def test_which_steps_were_run_is_taken_from_the_run_itself() -> None:
    text = """
        - {name: Old, run: old, if: "${{ needs.changes.outputs.old }}"}
        - {name: New, run: new}
    """
    run = (RunStep("Set up job", "success"), RunStep("Old", "skipped"), RunStep("New", "failure"))
    assert [each.run for each in planned(text, run).commands] == ["new"]
    assert [each.run for each in planned(text).commands] == ["old", "new"]


def test_services_and_packages_are_needs_of_the_box() -> None:
    plan = planned(
        "- run: sudo apt-get install -y libpq-dev jq && sudo service postgresql start",
        job="services: {db: {image: 'postgres:16'}, cache: {image: valkey/valkey}, odd: {image: acme/odd}, none: ''}\n",
    )
    needs = {(each.kind, each.name, each.version or each.detail) for each in plan.needs}
    assert (Bring.SERVICE, "postgresql", "16") in needs
    assert (Bring.SERVICE, "redis", "cache") in needs
    assert (Bring.PACKAGES, "apt", "libpq-dev jq") in needs
    assert [(each.kind, each.name) for each in plan.missing] == [(Lack.SERVICE, "acme/odd")]


def test_the_steps_of_the_job_that_makes_an_artifact_come_first() -> None:
    found = plans("""
        on: push
        jobs:
          build:
            runs-on: ubuntu-latest
            steps: [{run: make}, {uses: actions/upload-artifact@v4, with: {name: dist, path: out/}}]
          test:
            needs: build
            runs-on: ubuntu-latest
            steps: [{uses: actions/download-artifact@v4, with: {name: dist, path: dist}}, {run: check dist}]
          lost:
            needs: build
            runs-on: ubuntu-latest
            steps: [{uses: actions/download-artifact@v4, with: {name: other}}]
    """)
    _, test, lost = found
    assert test.is_complete
    assert [each.run.splitlines()[0] for each in test.commands][::3] == ["make", "check dist"]
    assert {each.step for each in test.commands[:3]} == {0}
    assert [str(each) for each in lost.missing] == ["an artifact that no job of this workflow makes on Linux: other"]


def test_check_actions_are_their_commands_and_a_retried_command_is_itself() -> None:
    plan = planned("""
        - {uses: golangci/golangci-lint-action@v8, with: {version: v2.1, args: --timeout 5m}}
        - {uses: nick-fields/retry@v3, with: {command: npm test, timeout_minutes: 5}}
    """)
    assert [each.run for each in plan.commands] == ["golangci-lint run --timeout 5m", "npm test"]
    assert [(each.name, each.version) for each in plan.needs] == [("golangci-lint", "v2.1")]


def test_a_matrix_that_another_job_writes_is_named_and_other_jobs_keep_their_plans() -> None:
    first, second = plans("""
        on: push
        jobs:
          odd:
            needs: second
            strategy: {matrix: "${{ fromJSON(needs.second.outputs.rows) }}"}
            runs-on: ubuntu-latest
            steps: [{run: x}]
          second: {runs-on: ubuntu-latest, steps: [{run: y}]}
    """)
    assert "needs.second.outputs.rows" in str(first.missing[0])
    assert second.is_complete
