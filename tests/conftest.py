import faulthandler
import os
import sys
from collections.abc import Iterator

import hypothesis
import pytest
import structlog

from tests.databases import database, database_url, empty_url, redis_url, sqlite_template, sqlite_url
from tests.postgres import postgres_empty, postgres_server, postgres_template, postgres_url

__all__ = [
    "database",
    "database_url",
    "empty_url",
    "postgres_empty",
    "postgres_server",
    "postgres_template",
    "postgres_url",
    "redis_url",
    "sqlite_template",
    "sqlite_url",
]

# A loaded machine is no fault of what is tested.
hypothesis.settings.register_profile(
    "any speed", deadline=None, suppress_health_check=[hypothesis.HealthCheck.too_slow]
)
hypothesis.settings.load_profile("any speed")

TEARDOWN = 180.0
"""Seconds that the teardown of a failed test may take: pytest and its timeout stop their clocks at the failure."""

WHOLE_LOOP = "test_red_checks_are_repaired_until_they_are_green"


def pytest_xdist_auto_num_workers(config: pytest.Config) -> int:
    """Two for each CPU: tests of the whole house wait for processes most of their time."""
    return 2 * (os.cpu_count() or 1)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """`make test` alone stays short: of the end-to-end tests it runs one; CI and `LONG=1` run them all."""
    if not os.environ.get("GREENLOOP_TEST_SHORT"):
        return
    for item in items:
        if "e2e" in item.path.parts and item.name != WHOLE_LOOP:
            item.add_marker(pytest.mark.skip(reason="long: run by CI, and by `make test LONG=1`"))


@pytest.fixture(autouse=True)
def _log_settings() -> Iterator[None]:
    """What a test or a command sets of logging is set for the whole process: the next test must see its own lines."""
    before = structlog.get_config()
    yield
    structlog.configure(**before)


@pytest.hookimpl(trylast=True)
def pytest_exception_interact(node: pytest.Item | pytest.Collector) -> None:
    if not node.config.getoption("usepdb"):
        faulthandler.dump_traceback_later(TEARDOWN, exit=True, file=2)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Name a failure when it happens, and how what is tried again failed: a run that is cut short must have said it."""
    if "PYTEST_XDIST_WORKER" in os.environ:
        return
    if report.failed:
        print(f"\n{report.when} failed: {report.nodeid}", file=sys.__stderr__, flush=True)
    elif str(report.outcome) == "rerun":
        print(
            f"\n{report.when} is tried again: {report.nodeid}\n{report.longreprtext}", file=sys.__stderr__, flush=True
        )
