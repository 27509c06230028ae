import pytest

from loops.guards.globs import first_match, matches


@pytest.mark.parametrize(
    ("glob", "inside", "outside"),
    [
        (
            ".github/workflows/**",
            [
                ".github/workflows/ci.yml",
                ".github/workflows/a/b.yml",
                ".GitHub/Workflows/CI.yml",
                ".github/workflows",
                ".github",
            ],
            [".github/dependabot.yml", "x/.github/workflows/ci.yml", ".github/workflows2/a", "github"],
        ),
        ("infra/", ["infra/a.tf", "infra/b/c.tf", "infra", "a/infra/b"], ["infrared/a", "a/infra2/b"]),
        ("*.lock", ["a.lock", "x/y/b.lock", ".lock"], ["a.lock.txt", "lock"]),
        ("/Makefile", ["Makefile", "makefile"], ["sub/Makefile2"]),
        ("src/*.py", ["src/a.py"], ["src/a/b.py", "src2/a.py", "src/a.pyc"]),
        ("src/**/*.py", ["src/a.py", "src/x/y/a.py"], ["src/a.js", "lib/src/a.py"]),
        (
            "**/secrets/**",
            ["secrets/a", "x/secrets/a", "x/y/secrets/z/a", "x/secrets"],
            ["x/secretss/a", "notsecrets/a"],
        ),
        ("**", ["a", "a/b"], []),
        ("a?c/[xy].txt", ["abc/x.txt", "ABC/Y.txt"], ["ac/x.txt", "abc/z.txt", "a/c/x.txt"]),
        ("a/[!x].txt", ["a/y.txt"], ["a/x.txt"]),
        ("a/[z-a", ["a/[z-a"], ["a/z"]),
        ("caf\u00e9/**", ["cafe\u0301/menu.txt"], ["cafe/menu.txt"]),
        ("./docs/*", ["docs/a"], ["docs/a/b"]),
    ],
)
def test_a_glob_names_these_paths_and_not_those(glob: str, inside: list[str], outside: list[str]) -> None:
    assert [path for path in inside if not matches(path, glob)] == []
    assert [path for path in outside if matches(path, glob)] == []


def test_the_glob_that_matched_is_told() -> None:
    assert first_match("b/x", ["a/**", "b/**"]) == "b/**"
    assert first_match("c", ["a/**"]) is None
