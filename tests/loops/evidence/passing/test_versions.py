"""Versions as installers and the runner print them."""

import pytest

from loops.evidence.passing.versions import MOST, differing, versions


@pytest.mark.parametrize(
    ("line", "found"),
    [
        ("Successfully installed attrs-26.1.0 pytest-cov-7.1.0", {"attrs": "26.1.0", "pytest-cov": "7.1.0"}),
        (
            "  Downloading https://x.example/ab/shapeline-3.0.0.dev2-cp312-cp312-linux.whl (9 MB)",
            {"shapeline": "3.0.0.dev2"},
        ),
        ("Using cached typing_extensions-4.16.0-py3-none-any.whl (37 kB)", {"typing_extensions": "4.16.0"}),
        ("Downloading shop-tools-1.4.tar.gz (3 kB)", {"shop-tools": "1.4"}),
        (" + ruff==0.14.1", {"ruff": "0.14.1"}),
        ("+ react-dom 19.2.5", {"react-dom": "19.2.5"}),
        ("+ @types/node 22.1.0", {"@types/node": "22.1.0"}),
        ("   Compiling serde v1.0.219", {"serde": "v1.0.219"}),
        ("go: downloading golang.org/x/sys v0.21.0", {"golang.org/x/sys": "v0.21.0"}),
        ("Using rake 13.1.0", {"rake": "13.1.0"}),
        ("  - Installing symfony/console (v7.1.2): Extracting archive", {"symfony/console": "v7.1.2"}),
        (
            "Downloaded from central: https://repo.example/org/junit/junit-bom/5.10.2/junit-bom-5.10.2.pom (5.6 kB)",
            {"junit-bom": "5.10.2"},
        ),
        ("Setting up libpq-dev (16.2-1ubuntu4) ...", {"libpq-dev": "16.2-1ubuntu4"}),
        (
            "Download action repository 'actions/checkout@v4' (SHA:34e114876b0b11c390a56381ad16ebd13914f8d5)",
            {"actions/checkout@v4": "34e114876b0b"},
        ),
        ("Current runner version: '2.333.1'", {"runner": "2.333.1"}),
        ("Successfully set up CPython (3.12.3)", {"CPython": "3.12.3"}),
        ("node: v20.20.2", {"node": "v20.20.2"}),
        ("+ python -m pytest", {}),
        ("Using 4 workers", {}),
        ("go test ./...", {}),
        ("- 3 of 4 held", {}),
        ("Downloading the internet", {}),
    ],
)
def test_a_line_tells_what_was_fetched(line: str, found: dict[str, str]) -> None:
    assert versions([line]) == found


def test_only_what_both_logs_have_can_differ() -> None:
    green, red = {"attrs": "25.1", "pytest": "8.4", "gone": "1"}, {"new": "2", "pytest": "8.4", "attrs": "26.1"}
    assert differing(green, red) == [("attrs", "25.1", "26.1")]


def test_the_names_are_bounded() -> None:
    assert len(versions([f"Using gem_{n} 1.{n}" for n in range(3 * MOST)])) == MOST
