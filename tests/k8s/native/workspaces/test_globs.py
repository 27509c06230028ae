"""Patterns of names: what they mean is in `test_workspace`; here is what they cost, and what is odd about them."""

import pytest

from k8s.native.workspaces.globs import glob_matcher, named_by


@pytest.mark.parametrize(
    ("pattern", "path", "meant"),
    [
        ("**", "a/b.py", True),
        ("**/**/x.py", "x.py", True),
        ("a/**", "a", False),
        ("a/**/b/**/c", "a/1/b/2/b/c", True),
        ("a/**/b/**/c", "a/1/b/2/b/d", False),
        ("a**b", "a-x-b", True),
        ("a**b", "a/b", False),
        ("[a].py", "[a].py", True),
        ("[a].py", "a.py", False),
        ("a+(b).py", "a+(b).py", True),
        ("", "a", False),
        ("*", "a/b", False),
    ],
)
def test_a_pattern_means_whole_paths_and_only_its_stars_are_special(pattern: str, path: str, meant: bool) -> None:
    assert glob_matcher(pattern)(path) is meant


@pytest.mark.parametrize(
    ("pattern", "path"),
    [("*a" * 60 + "b", "a" * 255), ("**/a/" * 60 + "b", "a/" * 1000 + "a"), ("?" * 100 + "*b" * 40, "ab" * 120 + "a")],
)
def test_no_pattern_freezes_a_search_for_names(pattern: str, path: str) -> None:
    assert not glob_matcher(pattern)(path)


def test_a_glob_of_a_search_may_mean_the_name_alone() -> None:
    assert named_by("*.py")("src/deep/a.py") and named_by("src/*.py")("src/a.py") and named_by(None)("anything")
    assert not named_by("src/*.py")("lib/a.py")
