"""What a turn changed is what `git add -A` would stage, whatever the agent did to git."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from k8s.runner import agent_files, protocol
from k8s.runner.git import changes
from k8s.runner.git.command import Git, make_private
from k8s.runner.git.work_tree import WorkTree
from k8s.runner.protocol import TurnLimits
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.double import git

LIMITS = TurnLimits()


class Tree:
    """A commit checked out with an index of ours, for scripts to change."""

    def __init__(self, root: Path, template: Path) -> None:
        self.root = root / "work"
        shutil.copytree(template, self.root, symlinks=True)
        self.private = root / "private"
        self.git = Git(self.private, work_tree=root / "scratch", index=self.private / "index")
        self.commit()

    def commit(self) -> None:
        """Take the last commit as the base."""
        self.base = git(self.root, "rev-parse", "HEAD")
        # as the runner does: objects aside, where the agent has no say
        make_private(self.private)
        shutil.copytree(self.root / ".git/objects", self.private / "objects", dirs_exist_ok=True)

    def run(self, script: str) -> None:
        env = {"PATH": os.environ["PATH"], "HOME": str(self.root.parent), "LC_ALL": "C.UTF-8"}
        identity = {f"GIT_{who}_{what}": "a@b.c" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
        subprocess.run(["bash", "-ec", script], cwd=self.root, env={**env, **identity}, check=True, capture_output=True)

    def report(self, limits: TurnLimits = LIMITS) -> changes.Report:
        shutil.rmtree(self.root.parent / "scratch", ignore_errors=True)
        return changes.find(self.git, WorkTree(self.root.parent, self.root.name), self.base, limits)

    def expected(self) -> str:
        """The tree that plain git makes of the files, in a repository that nobody has touched."""
        fresh = self.root.parent / "fresh"
        make_private(fresh)
        where = ("--git-dir", str(fresh), "--work-tree", str(self.root))
        git(self.root, *where, "add", "-A")
        return git(self.root, *where, "write-tree")


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("template")
    git(root, "init", "-q", "-b", "main")
    (root / "a.txt").write_text("".join(f"line {number}\n" for number in range(50)))
    (root / "b.txt").write_text("b\n")
    (root / "run.sh").write_text("#!/bin/sh\n")
    (root / "link").symlink_to("a.txt")
    (root / "dir/deep").mkdir(parents=True)
    (root / "dir/deep/c.txt").write_text("c\n")
    (root / ".gitignore").write_text("*.log\nnode_modules/\n")
    (root / "data.bin").write_bytes(bytes(range(256)) * 10)
    git(root, "add", "-A")
    git(root, "commit", "-qm", "base")
    return root


@pytest.fixture
def tree(tmp_path: Path, template: Path) -> Tree:
    return Tree(tmp_path, template)


def short(report: changes.Report) -> dict[str, str]:
    """Path to mode, or what became of it."""
    return {
        change.path: "deleted" if change.sha is None else f"{change.mode} from {change.old_path}" if change.old_path
        else change.mode for change in report.changes
    }  # fmt: skip


@pytest.mark.parametrize(
    ("script", "expected"),
    [
        ("true", {}),
        ("touch a.txt b.txt", {}),
        ("echo more >> b.txt", {"b.txt": "100644"}),
        ("echo x > new.txt", {"new.txt": "100644"}),
        ("rm b.txt", {"b.txt": "deleted"}),
        ("git mv a.txt moved.txt", {"moved.txt": "100644 from a.txt"}),
        ("mv a.txt moved.txt; echo end >> moved.txt", {"moved.txt": "100644 from a.txt"}),
        ("chmod +x b.txt", {"b.txt": "100755"}),
        ("ln -sf b.txt link", {"link": "120000"}),
        ("ln -s /etc/passwd outside; ln -s dir d2; ln -s nowhere broken",
         {"outside": "120000", "d2": "120000", "broken": "120000"}),
        ("rm -r dir; echo now a file > dir", {"dir": "100644", "dir/deep/c.txt": "deleted"}),
        ("rm b.txt; mkdir b.txt; echo x > b.txt/inner", {"b.txt": "deleted", "b.txt/inner": "100644"}),
        ("mv dir other; ln -s other dir", {"dir": "120000", "other/deep/c.txt": "100644 from dir/deep/c.txt"}),
        ("rm a.txt; ln -s b.txt a.txt", {"a.txt": "120000"}),
        ("echo x > 'with space'; echo x > $'tab\\t\"quote'; echo x > 'back\\slash'",
         {"with space": "100644", 'tab\t"quote': "100644", "back\\slash": "100644"}),
        ("echo x > -dash; echo x > ./--", {"-dash": "100644", "--": "100644"}),
        ("mkdir ü; echo x > ü/日本.txt; echo x > '*'", {"ü/日本.txt": "100644", "*": "100644"}),
        ("echo x > out.log; mkdir node_modules; echo x > node_modules/m.js; echo x > keep.txt", {"keep.txt": "100644"}),
        ("printf '\\000\\001' > new.bin; printf '\\000' >> data.bin", {"new.bin": "100644", "data.bin": "100644"}),
        ("mkdir empty", {}),
        (": > empty.txt", {"empty.txt": "100644"}),
        ("find . -mindepth 1 -not -path './.git*' -delete; rm .gitignore",
         dict.fromkeys(["a.txt", "b.txt", "run.sh", "link", "dir/deep/c.txt", ".gitignore", "data.bin"], "deleted")),
    ],
)  # fmt: skip
def test_every_kind_of_change_is_reported_as_git_would_stage_it(
    tree: Tree, script: str, expected: dict[str, str]
) -> None:
    tree.run(script)
    report = tree.report()
    assert short(report) == expected
    assert report.tree == tree.expected()
    assert report.left_out == []


@pytest.mark.parametrize(
    "script",
    [
        "git add -A; git commit -qm mine",
        "git checkout -q -b mine; git add -A; git commit -qm mine; git tag t; git commit -q --amend -m again",
        "git add -A; git commit -qm x; git reset -q --soft HEAD~; git stash -q; git stash apply -q",
        "git add -A; git update-index --assume-unchanged b.txt; git update-index --skip-worktree new.txt",
        "rm -rf .git",
        "rm -rf .git; git init -q; git add -A; git commit -qm x",
        "rm -rf .git; echo 'gitdir: /nowhere' > .git",
        "rm -rf .git; ln -s /etc .git",
        "echo '*' > .git/info/exclude; git config core.excludesFile /tmp/x; git config core.ignoreCase true",
        "printf '[core]\\n\\tignore' >> .git/config",
        "mkdir -p ~/.config/git; echo '*' > ~/.config/git/ignore; git config --global core.autocrlf input",
    ],
)
def test_what_the_agent_does_to_git_makes_no_difference(tree: Tree, script: str) -> None:
    tree.run("echo more >> b.txt; echo new > new.txt")
    expected = tree.expected()
    tree.run(script)
    report = tree.report()
    assert report.tree == expected
    assert short(report) == {"b.txt": "100644", "new.txt": "100644"}


def test_a_change_within_the_second_of_the_checkout_that_keeps_the_size_is_seen(tree: Tree) -> None:
    tree.run("rm a.txt b.txt; git reset -q --hard")
    tree.commit()
    tree.run("printf 'c\\n' > b.txt; touch -r a.txt b.txt")
    assert short(tree.report()) == {"b.txt": "100644"}


def test_nested_repositories_are_left_out_and_named_not_turned_into_submodules(tree: Tree) -> None:
    tree.run(
        "git init -q inner; (cd inner; echo x > f; git add f; git commit -qm x); git init -q unborn;"
        "mkdir sub; git clone -q inner sub/cloned; echo y > sub/own.txt"
    )
    report = tree.report()
    assert short(report) == {"sub/own.txt": "100644"}
    named = " ".join(report.left_out)
    assert all(name in named for name in ("inner/", "unborn/", "sub/cloned/"))


def test_a_submodule_of_the_base_stays_as_it_was_unless_it_is_deleted(tree: Tree) -> None:
    git(tree.root, "update-index", "--add", "--cacheinfo", f"160000,{'c' * 40},sub")
    git(tree.root, "update-index", "--add", "--cacheinfo", f"160000,{'d' * 40},gone")
    git(tree.root, "commit", "-qm", "with submodules")
    tree.commit()
    tree.run("mkdir sub; cd sub; git init -q; echo x > f; git add f; git commit -qm 'populated by the agent'")
    report = tree.report()
    assert short(report) == {"gone": "deleted"}
    assert git(tree.private, "--git-dir=.", "ls-tree", report.tree, "sub").startswith("160000 commit cccc")


def test_names_that_are_not_utf_8_or_hold_a_newline_and_unreadable_files_are_left_out_and_named(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tree.root / os.fsdecode(b"caf\xe9")).write_text("x")
    (tree.root / "two\nlines").write_text("x")
    (tree.root / "closed").write_text("x")
    # the tests may run as a user who can read everything
    real = agent_files.read_at

    def read_at(folder: int, name: str | bytes, limit: int) -> bytes | None:
        if name == b"closed":
            raise PermissionError(name)
        return real(folder, name, limit)

    monkeypatch.setattr(agent_files, "read_at", read_at)
    report = tree.report()
    assert report.changes == []
    assert sorted(report.left_out) == [
        "caf\\xe9 (its name is not UTF-8)",
        "closed (it cannot be read)",
        "two\\nlines (its name holds a newline)",
    ]


def test_sizes_binaries_and_blobs_are_told(tree: Tree) -> None:
    tree.run("printf '\\000\\001' > new.bin; echo text > t.txt; cp t.txt copy.txt; git mv data.bin moved.bin; rm b.txt")
    report = tree.report()
    about = {change.path: (change.size, change.binary) for change in report.changes}
    expected = {"new.bin": (2, True), "t.txt": (5, False), "copy.txt": (5, False), "moved.bin": (2560, True)}
    assert about == {**expected, "b.txt": (0, False)}
    contents = list(changes.blobs(tree.git, report.changes))
    assert sorted(len(content) for _, content in contents) == [2, 5, 2560]


def test_the_diff_is_unified_and_shows_names_as_they_are(tree: Tree) -> None:
    tree.run("echo more >> b.txt; echo x > ü.txt; printf 'caf\\351\\n' > latin.txt")
    diff = tree.report().diff
    assert "--- a/b.txt\n+++ b/b.txt\n@@ -1 +1,2 @@\n b\n+more\n" in diff
    assert "+++ b/ü.txt" in diff
    assert "+caf\ufffd\n" in diff


def test_a_long_diff_is_cut_at_a_line_and_says_so(tree: Tree) -> None:
    tree.run("seq 200000 > big.txt")
    diff = tree.report().diff
    assert len(diff.encode()) <= protocol.DIFF_BYTES
    assert diff.endswith("[greenloop: the diff is cut here, at 400000 bytes]\n")
    assert diff.splitlines()[-3].lstrip("+").isdigit()


def test_thousands_of_changed_files_are_refused_with_their_number_before_they_are_read(tree: Tree) -> None:
    tree.run("mkdir many; cd many; seq 2000 | xargs touch")
    with pytest.raises(changes.TooMany, match="2000 files changed; the limit is 300"):
        tree.report()
    assert not list((tree.private / "objects").glob("e6/9de29*"))


def test_the_limit_counts_a_rename_once(tree: Tree) -> None:
    tree.run("mkdir many; for n in $(seq 20); do echo $n > many/$n; done; git add -A; git commit -qm x")
    tree.commit()
    tree.run("mv many more")
    assert len(tree.report(TurnLimits(changed_files=20)).changes) == 20
    with pytest.raises(changes.TooMany, match="20 files changed; the limit is 19"):
        tree.report(TurnLimits(changed_files=19))


def test_a_file_that_is_too_large_is_left_out_and_named_with_its_size(tree: Tree) -> None:
    tree.run("head -c 6000000 /dev/zero > big.bin; head -c 5000001 /dev/zero > b.txt; echo more >> a.txt")
    report = tree.report()
    assert short(report) == {"a.txt": "100644"}
    assert report.left_out == [
        "b.txt (it has 5000001 bytes; the limit for one file is 5000000)",
        "big.bin (it has 6000000 bytes; the limit for one file is 5000000)",
    ]


def test_changes_that_are_too_large_together_are_refused(tree: Tree) -> None:
    tree.run("for n in 1 2 3 4 5; do head -c 4500000 /dev/zero > $n.bin; done")
    with pytest.raises(changes.ChangesTooLarge, match="22500000 bytes together"):
        tree.report()


def test_line_ending_rules_of_the_repository_hold(tree: Tree) -> None:
    tree.run("echo '*.txt text eol=crlf' > .gitattributes; printf 'one\\r\\ntwo\\r\\n' > crlf.txt")
    report = tree.report()
    assert report.tree == tree.expected()
    assert b"one\ntwo\n" in [content for _, content in changes.blobs(tree.git, report.changes)]


def test_a_turn_with_too_many_changes_says_so_and_uploads_nothing(started: Box) -> None:
    sha = started.commit({"a": "1"})
    told = started.give("mkdir m; cd m; seq 700 | xargs touch", sha)
    result = started.service.result(told)
    assert result.reason == protocol.TOO_MANY_CHANGES
    assert "700 files changed; the limit is 300" in result.message
    assert (result.changes, result.tree, result.exit_code) == ([], None, 0)
    assert told.object_puts == 0


def test_a_turn_that_commits_deletes_its_git_and_leaves_nested_repositories_is_reported_whole(started: Box) -> None:
    sha = started.commit({"a": "1"})
    script = "echo 2 > a; git commit -qam mine; git rev-parse HEAD; git init -q inner; rm -rf .git/objects"
    told = started.give(script, sha)
    result = started.service.result(told)
    assert [change.path for change in result.changes] == ["a"]
    assert result.head == told.output.decode().strip()
    assert "Left out: inner/ (a repository of its own)" in result.message
    assert result.reason == protocol.EXITED
    told = started.give("rm -rf ../issue-1", sha)
    result = started.service.result(told)
    assert [(change.path, change.sha) for change in result.changes] == [("a", None)]


def test_files_that_came_by_a_merge_do_not_count_against_the_limits(started: Box) -> None:
    base = started.commit({"a": "1\n"})
    git(started.work, "checkout", "-q", "-b", "theirs")
    theirs = started.commit({f"many/{number}": "x" * number for number in range(50)})
    git(started.work, "checkout", "-q", "trunk")
    ours = started.commit({"b": "1\n"})
    assert ours != base
    merge = {"ref": "refs/heads/theirs", "sha": theirs}
    told = started.give("git status --short | wc -l; echo 2 > a", ours, merge=merge, limits={"changed_files": 10})
    result = started.service.result(told)
    assert result.reason == protocol.EXITED, result.message
    assert len(result.changes) == 51
    assert told.output.strip() == b"50"


def test_by_products_that_nobody_asked_for_are_left_out_and_named(tree: Tree) -> None:
    tree.run(
        "mkdir -p __pycache__ .nyc_output pkg/target;"
        " touch __pycache__/a.pyc __pycache__/b.pyc .nyc_output/x.json .coverage pkg/target/x new.py"
    )
    report = tree.report()
    assert [change.path for change in report.changes] == ["new.py"]
    assert report.left_out == [
        f"{each} (a by-product of a tool)"
        for each in (".coverage", ".nyc_output/x.json", "__pycache__/ (2 files)", "pkg/target/x")
    ]


def test_by_products_do_not_count_against_the_limits_and_one_line_tells_of_their_folder(tree: Tree) -> None:
    tree.run(
        "sed -i /node_modules/d .gitignore; for n in $(seq 40); do mkdir -p web/node_modules/p$n/node_modules;"
        " touch web/node_modules/p$n/{a,b,c}.js web/node_modules/p$n/node_modules/d.js; done"
    )
    report = tree.report(TurnLimits(changed_files=20))
    assert [change.path for change in report.changes] == [".gitignore"]
    assert report.left_out == ["web/node_modules/ (160 files) (a by-product of a tool)"]


def test_the_repositorys_own_rules_decide_before_ours(tree: Tree) -> None:
    tree.run("printf '*.pyc\\n!*.swp\\n' >> .gitignore; touch a.pyc .a.swp b.class")
    report = tree.report()
    assert [change.path for change in report.changes] == [".a.swp", ".gitignore"]
    assert report.left_out == ["b.class (a by-product of a tool)"]


def test_what_the_agent_wrote_by_an_edit_tool_is_no_by_product(started: Box) -> None:
    sha = started.commit({"a": "1"})
    told = started.give("mkdir -p target/debug; echo x > target/rules.txt; echo x > target/debug/x", sha)
    told.edited = ["target/rules.txt", "elsewhere"]
    result = started.service.result(told)
    assert [change.path for change in result.changes] == ["target/rules.txt"]
    assert result.left_out == ["target/debug/x (a by-product of a tool)"]


def test_what_came_by_a_merge_is_no_by_product(started: Box) -> None:
    started.commit({"a": "1\n"})
    git(started.work, "checkout", "-q", "-b", "theirs")
    theirs = started.commit({"target/kept.txt": "x"})
    git(started.work, "checkout", "-q", "trunk")
    ours = started.commit({"b": "1\n"})
    told = started.give("echo 2 > a; touch b.pyc", ours, merge={"ref": "refs/heads/theirs", "sha": theirs})
    result = started.service.result(told)
    assert {change.path for change in result.changes} == {"a", "target/kept.txt"}
    assert result.left_out == ["b.pyc (a by-product of a tool)"]


def test_by_products_are_taken_over_where_the_base_has_some_like_them(tree: Tree) -> None:
    tree.run("mkdir -p target; echo 1 > target/kept; git add -f target; git commit -qm kept")
    tree.commit()
    tree.run("echo 2 > target/more; touch x.pyc")
    report = tree.report()
    assert [change.path for change in report.changes] == ["target/more"]
    assert report.left_out == ["x.pyc (a by-product of a tool)"]


def test_what_git_cannot_hold_is_left_out_and_named(tree: Tree) -> None:
    tree.run("mkfifo pipe ignored.log $'two\\nlines'; rm b.txt; mkfifo b.txt; echo y > good.txt")
    report = tree.report()
    assert [change.path for change in report.changes] == ["good.txt"]
    assert sorted(report.left_out) == ["b.txt (a FIFO)", "pipe (a FIFO)", "two\\nlines (a FIFO)"]


def test_a_file_under_a_filter_that_does_not_run_is_never_published_raw(tree: Tree) -> None:
    tree.run(
        "echo '*.enc filter=crypt diff=crypt' > .gitattributes;"
        " echo '*.u16 working-tree-encoding=UTF-16LE' >> .gitattributes;"
        " echo raw > key.enc; echo t > t.u16; echo y > good.txt"
    )
    report = tree.report()
    assert sorted(change.path for change in report.changes) == [".gitattributes", "good.txt"]
    assert sorted(report.left_out) == [
        "key.enc (filter=crypt does not run here)",
        "t.u16 (working-tree-encoding=UTF-16LE does not run here)",
    ]


def test_what_stands_inside_a_submodule_is_named(tree: Tree) -> None:
    tree.run("git init -q sub; git -C sub commit -q --allow-empty -m x; git add sub 2>/dev/null; git commit -qm sub")
    tree.commit()
    tree.run("echo new > sub/file; echo y > good.txt")
    report = tree.report()
    assert [change.path for change in report.changes] == ["good.txt"]
    assert report.left_out == ["sub/ (inside a submodule)"]
