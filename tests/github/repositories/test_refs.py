import subprocess

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from github.repositories.refs import branch_name, branch_problem
from tests.tools import need


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Fix the login", "greenloop/12-fix-the-login"),
        ("Über größe: ça va?", "greenloop/12-uber-grosse-ca-va"),
        ("", "greenloop/12"),
        ("日本語", "greenloop/12"),
        ("../../etc/passwd", "greenloop/12-etc-passwd"),
        ("a.lock", "greenloop/12-a-lock"),
        ("$(rm -rf /) `x` @{-1} ~^:?*[\\", "greenloop/12-rm-rf-x-1"),
        ("x" * 500, "greenloop/12-" + "x" * 48),
    ],
)
def test_branch_names_are_made_of_any_title(title: str, name: str) -> None:
    assert branch_name("greenloop/", 12, title) == name


@pytest.mark.parametrize(
    "name",
    [
        "",
        "a b",
        "a..b",
        "a~1",
        "a^",
        "a:b",
        "a?",
        "a*",
        "a[b",
        "a\\b",
        "a@{1}",
        "@",
        "HEAD",
        "-a",
        ".a",
        "a/.b",
        "a.lock",
        "a.lock/b",
        "a.",
        "/a",
        "a/",
        "a//b",
        "a\x7f",
        "refs/heads/a",
        "0123456789abcdef0123456789abcdef01234567",
        "x" * 300,
    ],
)
def test_names_that_git_or_github_refuse_are_refused_with_a_reason(name: str) -> None:
    assert branch_problem(name)


@pytest.mark.parametrize("name", ["main", "release/1.x", "ünï", "a@b", "feature/#12", "a%b", "x" * 200])
def test_names_that_git_takes_are_taken(name: str) -> None:
    assert branch_problem(name) is None


@settings(max_examples=20, deadline=None)
@given(st.text(max_size=40))
def test_whatever_we_accept_git_accepts(name: str) -> None:
    if branch_problem(name) is None:
        ran = subprocess.run([need("git"), "check-ref-format", f"refs/heads/{name}"], check=False)
        assert ran.returncode == 0


@settings(max_examples=200, deadline=None)
@given(st.text(max_size=80), st.integers(1, 10**9))
def test_every_title_makes_a_valid_branch(title: str, number: int) -> None:
    assert branch_problem(branch_name("greenloop/", number, title)) is None


def test_a_prefix_that_cannot_be_used_says_so() -> None:
    with pytest.raises(ValueError, match="branch prefix"):
        branch_name("a b/", 1, "x")
