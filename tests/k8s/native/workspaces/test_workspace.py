"""What can be done in a workspace: the same in memory, on disk and in a sandbox elsewhere."""

import contextlib
import os
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s.native.workspaces import shell
from k8s.native.workspaces.box import BoxWorkspace
from k8s.native.workspaces.diffs import changed_files
from k8s.native.workspaces.edits import Edit
from k8s.native.workspaces.local import LocalWorkspace
from k8s.native.workspaces.memory import MemoryWorkspace
from k8s.native.workspaces.workspace import GREP_LINES, GREP_TEXT, Executed, Workspace, WorkspaceError

FILES = {
    "a.txt": "one\ntwo\nthree\n",
    "src/app.py": "def run():\n    return 1\n",
    "src/deep/er/x.py": "import app\n",
    "src/notes.md": "run\n" + "w" * 400 + " run\n",
    "tests/test_app.py": "from app import run\n",
}


@pytest.fixture(params=["memory", "local", "box"])
def workspace(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Workspace]:
    """A workspace with FILES in it, committed."""
    if request.param == "memory":
        yield MemoryWorkspace(FILES, {"exit 3": Executed(3, "out\n", "err\n")})
        return
    for path, text in FILES.items():
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(text)
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "first")
    if request.param == "local":
        yield LocalWorkspace(tmp_path)
        return
    box = BoxWorkspace([], str(tmp_path))
    yield box
    box.close()


def _git(folder: Path, *words: str) -> None:
    who = ["-c", "user.name=Ann", "-c", "user.email=ann@example.com"]
    subprocess.run(["git", *who, *words], cwd=folder, check=True)


def test_lines_are_counted_from_one(workspace: Workspace) -> None:
    assert workspace.read_file("a.txt") == FILES["a.txt"]
    assert workspace.read_file("a.txt", 2) == "two\nthree\n"
    assert workspace.read_file("a.txt", 2, 1) == "two\n"
    with pytest.raises(WorkspaceError, match="there is no line 9"):
        workspace.read_file("a.txt", 9)
    with pytest.raises(WorkspaceError, match="from 1"):
        workspace.read_file("a.txt", 0)


def test_a_file_is_made_with_its_directories(workspace: Workspace) -> None:
    assert workspace.write_file("new/dir/ü.txt", "ü\n") == 3
    assert workspace.read_file("new/dir/ü.txt") == "ü\n"


def test_an_edit_needs_exactly_one_match(workspace: Workspace) -> None:
    assert workspace.edit_file("a.txt", [Edit("two\n", "2\n")]) == len("one\n2\nthree\n")
    with pytest.raises(WorkspaceError, match=r"a\.txt was not edited. The text to replace does not occur"):
        workspace.edit_file("a.txt", [Edit("two", "2")])
    with pytest.raises(WorkspaceError, match=r"occurs 3 times; .* or set replace_all"):
        workspace.edit_file("a.txt", [Edit("e", "E")])
    assert workspace.read_file("a.txt") == "one\n2\nthree\n"
    assert workspace.edit_file("a.txt", [Edit("e", "E", replace_all=True), Edit("onE", "1")]) == len("1\n2\nthrEE\n")
    assert workspace.read_file("a.txt") == "1\n2\nthrEE\n"


def test_of_several_edits_all_are_made_or_none(workspace: Workspace) -> None:
    with pytest.raises(WorkspaceError, match="of edit 2 of 2 does not occur"):
        workspace.edit_file("a.txt", [Edit("one", "1"), Edit("four", "4")])
    assert workspace.read_file("a.txt") == FILES["a.txt"]
    with pytest.raises(WorkspaceError, match="There is no edit"):
        workspace.edit_file("a.txt", [])


def test_a_patch_changes_several_files_or_none(workspace: Workspace) -> None:
    lines = ["*** Begin Patch", "*** Update File: a.txt", "-two", "+2", "*** Delete File: src/notes.md"]
    done = workspace.apply_patch("\n".join([*lines, "*** Add File: new/b.txt", "+b", "*** End Patch"]))
    assert [vars(each) for each in done] == [
        {"change": "update", "path": "a.txt", "size": 12},
        {"change": "delete", "path": "src/notes.md", "size": 0},
        {"change": "add", "path": "new/b.txt", "size": 2},
    ]
    assert workspace.read_file("a.txt") == "one\n2\nthree\n" and workspace.read_file("new/b.txt") == "b\n"
    with pytest.raises(WorkspaceError, match=r"There is no file src/notes\.md"):
        workspace.read_file("src/notes.md")
    again = ["*** Begin Patch", "*** Update File: a.txt", "-2", "+zwei", "*** Delete File: none", "*** End Patch"]
    with pytest.raises(WorkspaceError, match=r"Nothing was changed\. There is no file none"):
        workspace.apply_patch("\n".join(again))
    assert workspace.read_file("a.txt") == "one\n2\nthree\n"
    with pytest.raises(WorkspaceError, match="outside of the workspace"):
        workspace.apply_patch("*** Begin Patch\n*** Add File: ../x\n+x\n*** End Patch")


def test_a_patch_of_which_a_file_cannot_be_written_is_undone(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("one\n")
    (tmp_path / "b.txt").write_text("two\n")
    workspace = LocalWorkspace(tmp_path)
    lines = ["*** Begin Patch", "*** Update File: a.txt", "-one", "+1", "*** Delete File: b.txt"]
    with pytest.raises(WorkspaceError, match="cannot be written"):
        workspace.apply_patch("\n".join([*lines, "*** Add File: c", "+c", "*** Add File: c/d", "+d", "*** End Patch"]))
    assert (tmp_path / "a.txt").read_text() == "one\n" and (tmp_path / "b.txt").read_text() == "two\n"
    assert sorted(each.name for each in tmp_path.iterdir()) == ["a.txt", "b.txt"]


def test_only_line_feeds_end_lines(workspace: Workspace) -> None:
    workspace.write_file("odd.py", "a\x0cb\u2028c\r\nfound\n")
    assert workspace.read_file("odd.py", 2) == "found\n"
    assert workspace.grep("found", "odd.py") == ["odd.py:2:found"]
    with pytest.raises(WorkspaceError, match=r"Lines of this file end with \\r\\n"):
        workspace.edit_file("odd.py", [Edit("c\nfound", "x")])


@pytest.mark.parametrize("path", ["none.txt", "src/none.py"])
def test_a_missing_file_is_named(workspace: Workspace, path: str) -> None:
    with pytest.raises(WorkspaceError, match=f"There is no file {path}"):
        workspace.read_file(path)


@pytest.mark.parametrize("path", ["../outside.txt", "/etc/passwd", "src/../../x"])
def test_nothing_outside_is_touched(workspace: Workspace, path: str) -> None:
    for attempt in (lambda: workspace.read_file(path), lambda: workspace.write_file(path, "x")):
        with pytest.raises(WorkspaceError, match="outside of the workspace"):
            attempt()


def test_directories_are_listed_with_a_slash(workspace: Workspace) -> None:
    assert workspace.list() == ["a.txt", "src/", "tests/"]
    assert workspace.list("src") == ["app.py", "deep/", "notes.md"]
    with pytest.raises(WorkspaceError, match="There is no directory nowhere"):
        workspace.list("nowhere")


@pytest.mark.parametrize(
    ("pattern", "found"),
    [
        ("*.txt", ["a.txt"]),
        ("**/*.py", ["src/app.py", "src/deep/er/x.py", "tests/test_app.py"]),
        ("src/*", ["src/app.py", "src/notes.md"]),
        ("src/**", ["src/app.py", "src/deep/er/x.py", "src/notes.md"]),
        ("?.txt", ["a.txt"]),
        ("src/**/x.py", ["src/deep/er/x.py"]),
        ("*.rs", []),
    ],
)
def test_glob_knows_stars_and_question_marks(workspace: Workspace, pattern: str, found: list[str]) -> None:
    assert workspace.glob(pattern) == found


def test_grep_gives_file_line_and_text_cut_short(workspace: Workspace) -> None:
    assert workspace.grep("def run") == ["src/app.py:1:def run():"]
    assert workspace.grep(r"\brun\b", "src", "*.md") == ["src/notes.md:1:run", f"src/notes.md:2:{'w' * GREP_TEXT}"]
    assert workspace.grep("run", "tests") == ["tests/test_app.py:1:from app import run"]
    with pytest.raises(WorkspaceError, match="no regular expression"):
        workspace.grep("(")


def test_grep_shows_lines_around_a_match_and_no_more_than_so_many(workspace: Workspace) -> None:
    assert workspace.grep("two", "a.txt", context=1) == ["a.txt-1-one", "a.txt:2:two", "a.txt-3-three"]
    workspace.write_file("many.txt", "x\n" * (GREP_LINES + 5))
    found = workspace.grep("x", "many.txt")
    assert (len(found), found[0]) == (GREP_LINES + 1, "many.txt:1:x") and "narrow the pattern" in found[-1]


def test_a_command_gives_its_exit_code_and_both_outputs(workspace: Workspace) -> None:
    command = "exit 3" if isinstance(workspace, MemoryWorkspace) else "echo out; echo err >&2; exit 3"
    assert workspace.exec(command, 10) == Executed(3, "out\n", "err\n", False)


def test_the_diff_holds_what_changed_and_is_empty_before(workspace: Workspace) -> None:
    assert workspace.diff() == ""
    workspace.write_file("a.txt", "one\n2\nthree\n")
    workspace.write_file("new ü.txt", "x")
    diff = workspace.diff()
    assert "-two\n+2\n" in diff and "+x\n\\ No newline at end of file" in diff
    assert changed_files(diff) == ["a.txt", "new ü.txt"]


def test_without_a_repository_there_is_no_diff(tmp_path: Path) -> None:
    workspace = LocalWorkspace(tmp_path)
    workspace.write_file("a.txt", "x\n")
    assert workspace.diff() == ""
    assert workspace.glob("*") == ["a.txt"]


def test_a_diff_leaves_what_is_staged_as_it_is_and_sees_commits(tmp_path: Path) -> None:
    _git(tmp_path, "init", "-q")
    (tmp_path / "a.txt").write_text("1\n")
    _git(tmp_path, "add", "-A")
    _git(tmp_path, "commit", "-qm", "first")
    workspace = LocalWorkspace(tmp_path)
    (tmp_path / "a.txt").write_text("2\n")
    _git(tmp_path, "commit", "-qam", "by the agent itself")
    (tmp_path / "b.txt").write_text("b\n")
    assert changed_files(workspace.diff()) == ["a.txt", "b.txt"]
    staged = subprocess.run(["git", "diff", "--cached", "--name-only"], cwd=tmp_path, capture_output=True, check=True)
    assert staged.stdout == b""


def test_a_command_over_its_time_is_ended_with_its_children(tmp_path: Path) -> None:
    workspace = LocalWorkspace(tmp_path)
    done = workspace.exec("echo before; sleep 300 & sleep 300", 2)
    assert (done.exit_code, done.stdout, done.timed_out) == (None, "before\n", True)


def test_a_child_in_the_background_does_not_hold_a_command_up(tmp_path: Path) -> None:
    done = LocalWorkspace(tmp_path).exec("sleep 300 & echo $!", 60)
    assert (done.exit_code, done.timed_out) == (0, False)
    subprocess.run(["kill", done.stdout.strip()], check=True)


def test_a_cancel_ends_a_command_that_runs(tmp_path: Path) -> None:
    cancel = threading.Event()
    workspace = LocalWorkspace(tmp_path, cancel=cancel)
    threading.Timer(0.2, cancel.set).start()
    assert workspace.exec("sleep 30", 20).timed_out


def test_a_job_goes_on_beside_others_is_looked_at_and_stopped(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "go")
    with contextlib.closing(LocalWorkspace(tmp_path)) as workspace:
        job = workspace.start("echo begun; read line < go; echo $line; echo warned >&2; exec sleep 300")
        other = workspace.start("exit 3")
        ended = workspace.look(other, wait=60)
        assert (ended.running, ended.since.exit_code) == (False, 3)
        assert workspace.exec("echo told > go", 60).exit_code == 0
        seen = ""
        while "warned" not in seen:
            look = workspace.look(job, wait=0.05)
            assert look.running and look.since.exit_code is None
            seen += look.since.stdout + look.since.stderr
        assert seen == "begun\ntold\nwarned\n", "each look shows what came since the one before"
        stopped = workspace.stop(job)
        assert (stopped.running, stopped.since.exit_code, stopped.since.timed_out) == (False, None, True)
        with pytest.raises(WorkspaceError, match="There is no job j9; there are: j1, j2".replace("j9", "'j9'")):
            workspace.look("j9")


def test_jobs_are_counted_bounded_and_end_with_the_workspace(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "MOST_JOBS", 2)
    monkeypatch.setattr(shell, "MOST_OUTPUT", 1_000_000)
    workspace = LocalWorkspace(tmp_path)
    endless = workspace.look(workspace.start("yes"), wait=120)
    assert (endless.running, endless.since.exit_code) == (False, None) and "printed more than" in endless.since.stderr
    child = workspace.start("sleep 300 & echo $!; wait")
    workspace.start("sleep 300")
    with pytest.raises(WorkspaceError, match=r"2 jobs run already \(j2, j3\)"):
        workspace.start("true")
    number = ""
    while not number:
        number = workspace.look(child, wait=0.05).since.stdout.strip()
    workspace.close()
    while _runs(int(number)):
        time.sleep(0.01)


def _runs(number: int) -> bool:
    """Not once it is killed: then it is away, or waits for whoever adopted it."""
    try:
        return Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except FileNotFoundError:
        return False


def test_commands_do_not_get_what_is_hidden(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PLANTED_KEY", "sk-planted")
    assert LocalWorkspace(tmp_path, hidden=("PLANTED_KEY",)).exec("env", 5).stdout.count("sk-planted") == 0


def test_a_huge_output_keeps_its_ends(tmp_path: Path) -> None:
    done = LocalWorkspace(tmp_path).exec("echo first; yes | head -c 5000000; echo; echo last", 20)
    assert done.stdout.startswith("first\n") and done.stdout.endswith("last\n") and "bytes left out" in done.stdout
    assert len(done.stdout) < 210_000


def test_a_command_that_prints_without_end_is_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shell, "MOST_OUTPUT", 3_000_000)
    done = LocalWorkspace(tmp_path).exec("yes", 60)
    assert (done.exit_code, done.timed_out) == (None, False)
    assert "printed more than 3000000 bytes" in done.stderr


def test_a_file_that_cannot_be_read_keeps_nothing_else_from_being_found(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("needle\n")
    (tmp_path / "big.bin").write_bytes(b"needle\n" * 2_000_000)
    (tmp_path / "link").symlink_to("/etc/passwd")
    _git(tmp_path, "init", "-q")
    _git(tmp_path, "add", "-A")
    workspace = LocalWorkspace(tmp_path)
    assert workspace.grep("needle|root") == ["a.txt:1:needle"]
    with pytest.raises(WorkspaceError, match="is larger than"):
        workspace.read_file("big.bin")


def test_a_pipe_in_a_files_place_is_neither_read_nor_written_nor_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a.txt").write_text("needle\n")
    workspace = LocalWorkspace(tmp_path)
    for attempt in (
        lambda: workspace.read_file("pipe"),
        lambda: workspace.write_file("pipe", "x"),
        lambda: workspace.grep("x", "pipe"),
    ):
        with pytest.raises(WorkspaceError, match="no regular file"):
            attempt()
    assert workspace.grep("needle") == ["a.txt:1:needle"]


def test_no_pattern_freezes_a_search(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a" * 5000 + "\n")
    assert LocalWorkspace(tmp_path).grep("^(a+)+$") == ["a.txt:1:" + "a" * GREP_TEXT]
    assert LocalWorkspace(tmp_path).grep("^(a+)+b$") == []


def test_without_ripgrep_that_is_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    workspace, git = LocalWorkspace(tmp_path), shutil.which("git")
    (tmp_path / "git").symlink_to(str(git))
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(WorkspaceError, match="ripgrep"):
        workspace.grep("x")


def test_a_whole_log_outside_may_be_searched(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "job.log").write_text("green\nred\n")
    workspace = LocalWorkspace(tmp_path / "in", readable=[tmp_path])
    assert workspace.grep("red", str(tmp_path / "job.log")) == [f"{tmp_path}/job.log:2:red"]
    with pytest.raises(WorkspaceError, match="outside"):
        workspace.grep("root", "/etc/passwd")


def test_whole_logs_outside_may_be_read_where_allowed_but_not_written(tmp_path: Path) -> None:
    (tmp_path / "in").mkdir()
    (tmp_path / "logs").mkdir()
    log = tmp_path / "logs" / "job.log"
    log.write_text("red\n")
    workspace = LocalWorkspace(tmp_path / "in", readable=[tmp_path / "logs"])
    assert workspace.read_file(str(log)) == "red\n"
    with pytest.raises(WorkspaceError, match="outside"):
        workspace.write_file(str(log), "x")


def test_a_link_leads_nowhere_else_and_git_is_not_for_editing(tmp_path: Path) -> None:
    (tmp_path / "link").symlink_to("/etc")
    workspace = LocalWorkspace(tmp_path)
    with pytest.raises(WorkspaceError, match="outside"):
        workspace.read_file("link/passwd")
    with pytest.raises(WorkspaceError, match="belongs to git"):
        workspace.write_file(".git/hooks/pre-commit", "x")


def test_bytes_that_are_no_text_are_not_edited(tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(WorkspaceError, match="no UTF-8 text"):
        LocalWorkspace(tmp_path).edit_file("x.bin", [Edit("a", "b")])


def test_a_sandbox_is_entered_once_and_says_when_it_has_gone(tmp_path: Path) -> None:
    box = BoxWorkspace([], str(tmp_path))
    first, second = box.exec("echo $PPID", 5).stdout, box.exec("echo $PPID", 5).stdout
    assert first == second
    with pytest.raises(WorkspaceError, match="has gone"):
        box.exec(f"kill -9 {first.strip()}; sleep 5", 5)
    box.close()
    with pytest.raises(WorkspaceError, match="cannot be used"):
        BoxWorkspace(["/no/such/program"], str(tmp_path)).list()


@pytest.mark.parametrize(
    ("header", "names"),
    [
        ("diff --git a/a.txt b/a.txt", ["a.txt"]),
        ("diff --git a/x b/y.txt b/x b/y.txt", ["x b/y.txt"]),
        ("diff --git a/old.txt b/new.txt", ["new.txt"]),
        (r'diff --git "a/\303\274.txt" "b/\303\274.txt"', ["ü.txt"]),
        ("+diff --git a/content b/content", []),
        (" diff --git a/content b/content", []),
    ],
)
def test_changed_files_come_from_the_headers(header: str, names: list[str]) -> None:
    assert changed_files(f"{header}\nindex 1..2 100644\n") == names
