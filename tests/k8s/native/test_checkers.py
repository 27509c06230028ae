"""What an edit's answer says of what checkers find: the real ruff, and the words of others as they were observed."""

import sys
from pathlib import Path

import pytest

from k8s.native.checkers import MOST_LINES, Checkers
from k8s.native.tools import Toolbox
from k8s.native.workspaces.edits import Edit
from k8s.native.workspaces.local import LocalWorkspace

GO = "# x/p\nvet: p/a.go:3:35: undefined: y\n"
CARGO = (
    "src/lib.rs:1:21: error[E0308]: mismatched types: expected `i32`, found `&str`\n"
    "error: could not compile `x` (lib) due to 1 previous error\n"
)
TSC = "lib/b.ts(1,7): error TS2322: Type 'string' is not assignable to type 'number'.\na.ts(2,1): error TS2304: No y.\n"


def program(folder: Path, name: str, output: str, code: int = 1) -> None:
    """A program `name` that prints `output` on stderr, as go and cargo do, and notes where and how it was called."""
    (folder / f"{name}.out").write_text(output)
    call = f'echo "$PWD $*" >> {folder}/{name}.calls'
    (folder / name).write_text(f"#!/bin/sh\n{call}\ncat {folder}/{name}.out >&2\nexit {code}\n")
    (folder / name).chmod(0o755)


@pytest.fixture
def programs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of programs that is all of PATH beside what a shell needs; none of the checkers is there."""
    folder = tmp_path / "programs"
    folder.mkdir()
    for name in ("bash", "sh", "cat", "git"):
        (folder / name).symlink_to(Path("/bin" if Path(f"/bin/{name}").exists() else "/usr/bin") / name)
    monkeypatch.setenv("PATH", str(folder))
    return folder


def checkout(tmp_path: Path, *files: str) -> LocalWorkspace:
    for name in files:
        (tmp_path / "checkout" / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "checkout" / name).write_text("")
    return LocalWorkspace(tmp_path / "checkout")


def test_an_edit_is_answered_with_what_ruff_finds_in_the_file(tmp_path: Path, programs: Path) -> None:
    (programs / "ruff").symlink_to(Path(sys.executable).with_name("ruff"))
    toolbox = Toolbox(checkout(tmp_path, "a.py"), lambda kind, **payload: None)
    assert toolbox.write_file("a.py", "x = 1\n") == "Wrote 6 bytes to a.py."
    told = toolbox.edit_file("a.py", [Edit("x = 1", "x = y")])
    assert told.startswith("Edited a.py, 6 bytes now.\n\nruff finds:\na.py:1:5: F821")
    assert "ruff finds:\nb.py:1:" in toolbox.apply_patch(
        "*** Begin Patch\n*** Update File: a.py\n-x = y\n+x = 2\n*** Add File: b.py\n+def (\n*** End Patch"
    )
    assert sorted(path.name for path in (tmp_path / "checkout").iterdir()) == ["a.py", "b.py"], "it leaves nothing"


@pytest.mark.parametrize(
    ("name", "output", "path", "marker", "found"),
    [
        ("go", GO, "mod/p/a.go", "mod/go.mod", "go vet in mod finds:\nvet: p/a.go:3:35: undefined: y"),
        ("cargo", CARGO, "src/lib.rs", "Cargo.toml", f"cargo check finds:\n{CARGO.splitlines()[0]}"),
        (
            "tsc",
            TSC,
            "web/a.ts",
            "web/tsconfig.json",
            "tsc in web finds:\na.ts(2,1): error TS2304: No y.\nlib/b.ts(1,7)",
        ),
    ],
)
def test_a_project_is_checked_where_its_file_is(
    name: str, output: str, path: str, marker: str, found: str, tmp_path: Path, programs: Path
) -> None:
    program(programs, name, output)
    workspace = checkout(tmp_path, path, marker)
    assert found in Checkers(workspace).look_at([path])
    called = (programs / f"{name}.calls").read_text()
    assert called.startswith(str((tmp_path / "checkout" / marker).parent))
    assert Checkers(checkout(tmp_path / "no project", path)).look_at([path]) == ""
    assert (programs / f"{name}.calls").read_text() == called


def test_a_checker_of_the_project_itself_is_found_and_one_that_is_nowhere_is_no_news(
    tmp_path: Path, programs: Path
) -> None:
    workspace = checkout(tmp_path, "web/a.ts", "web/tsconfig.json", "b.py")
    assert Checkers(workspace).look_at(["web/a.ts", "b.py", "c.txt", "../outside.py"]) == ""
    own = tmp_path / "checkout" / "web" / "node_modules" / ".bin"
    own.mkdir(parents=True)
    program(own, "tsc", TSC)
    assert "tsc in web finds:" in Checkers(workspace).look_at(["web/a.ts"])


@pytest.mark.parametrize(("output", "code"), [("error: no such command\n", 101), ("warning: slow\n", 0), ("", 1)])
def test_what_a_checker_says_of_itself_is_no_finding(output: str, code: int, tmp_path: Path, programs: Path) -> None:
    program(programs, "go", output, code)
    assert Checkers(checkout(tmp_path, "go.mod", "a.go")).look_at(["a.go"]) == ""


def test_findings_are_bounded(tmp_path: Path, programs: Path) -> None:
    program(programs, "go", "".join(f"./b.go:{line}:1: {'w' * 1_000}\n" for line in range(MOST_LINES + 5)))
    told = Checkers(checkout(tmp_path, "go.mod", "a.go")).look_at(["a.go"])
    assert told.endswith("… and 5 more") and len(told) < 400 * MOST_LINES


def test_a_checker_that_takes_too_long_is_given_up_for_the_run_and_the_budget_ends(
    tmp_path: Path, programs: Path
) -> None:
    program(programs, "go", "")
    (programs / "go").write_text("#!/bin/sh\nwhile :; do :; done\n")
    workspace = checkout(tmp_path, "go.mod", "a.go")
    checkers = Checkers(workspace, seconds=0.2)
    assert "go vet took longer than 0 s; it is not run again" in checkers.look_at(["a.go"])
    assert checkers.look_at(["a.go"]) == ""
    program(programs, "go", GO)
    assert Checkers(workspace, budget=0).look_at(["a.go"]) == ""
    assert "finds" in Checkers(workspace).look_at(["a.go"])
