from loops.evidence.passing.since import COMMITS, FILES, MARK, WIDE, Since, told

SHA = "0123456789abcdef" * 2 + "01234567"


def test_where_a_job_last_passed_is_told_even_where_nothing_else_is_known() -> None:
    assert told(Since(SHA, "trunk"), "") == ["This job last passed on trunk at 0123456789."]


def test_of_many_commits_the_newest_are_told_and_how_many_there_were() -> None:
    commits = tuple(f"{number:010} change {number}" for number in range(COMMITS + 3))
    lines = told(Since(SHA, "trunk", commits), "")
    assert lines[1] == f"Commits since then (the newest {COMMITS} of {COMMITS + 3}):"
    assert lines[2:] == [f"  {commit}" for commit in commits[3:]]
    few = told(Since(SHA, "trunk", commits[:COMMITS]), "")
    assert few[1] == "Commits since then:" and len(few) == 2 + COMMITS


def test_files_that_the_failure_names_go_first_and_are_marked() -> None:
    files = ("docs/a.md", "src/pay.py", "src/ship.py")
    [_, line] = told(Since(SHA, "trunk", (), files), "E   src/ship.py:3: TypeError")
    assert line == f"Files changed since then: src/ship.py{MARK}, docs/a.md, src/pay.py"


def test_a_named_file_is_told_however_many_others_there_are() -> None:
    files = (*(f"other/{number}.txt" for number in range(FILES)), "src/ship.py")
    [_, line] = told(Since(SHA, "trunk", (), files), "ship.py failed")
    assert line.startswith(f"Files changed since then: src/ship.py{MARK}, other/0.txt")
    assert line.endswith(", and 1 more") and f"other/{FILES - 1}.txt" not in line


def test_long_subjects_and_paths_are_cut() -> None:
    lines = told(Since(SHA, "trunk", ("c" * 500,), ("f" * 500,)), "")
    assert lines[2] == "  " + "c" * WIDE
    assert lines[3] == "Files changed since then: " + "f" * WIDE
