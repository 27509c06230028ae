"""What is under Git LFS is published as its pointer, whatever else happens to the rules in the same turn."""

import hashlib
from pathlib import Path

import pytest

from k8s.runner.git import changes
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.double import git
from tests.k8s.runner.git.test_changes import Tree, short, template

__all__ = ["template"]
RULE = "*.bin filter=lfs diff=lfs merge=lfs -text\n"


def pointer(content: bytes) -> str:
    """The pointer to `content`, as the specification has it."""
    oid = hashlib.sha256(content).hexdigest()
    return f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"


@pytest.fixture
def tree(tmp_path: Path, template: Path) -> Tree:
    """A repository with one file under Git LFS, whose content is not here."""
    found = Tree(tmp_path, template)
    (found.root / ".gitattributes").write_text(RULE)
    (found.root / "old.bin").write_text(pointer(b"old"))
    found.run("git rm -q data.bin; git add -A; git commit -qm lfs")
    found.commit()
    return found


def contents(tree: Tree, report: changes.Report) -> dict[str, tuple[str, bytes | None, int]]:
    """By path: what the commit holds, what is behind it, and the size that is told."""
    blobs = dict(changes.blobs(tree.git, report.changes))
    return {
        change.path: (
            blobs[change.sha].decode() if change.sha else "",
            blobs[change.lfs] if change.lfs else None,
            change.size,
        )
        for change in report.changes
    }


def test_a_new_and_a_changed_file_are_their_pointers_and_the_contents_are_told(tree: Tree) -> None:
    (tree.root / "old.bin").write_bytes(b"new\0")
    (tree.root / "dir/more.bin").write_bytes(b"x" * 3_000_000)
    (tree.root / "dir/more.bin").chmod(0o755)
    (tree.root / "empty.bin").touch()
    report = tree.report()
    assert report.left_out == []
    assert contents(tree, report) == {
        "old.bin": (pointer(b"new\0"), b"new\0", 4),
        "dir/more.bin": (pointer(b"x" * 3_000_000), b"x" * 3_000_000, 3_000_000),
        "empty.bin": ("", None, 0),
    }
    assert short(report)["dir/more.bin"] == "100755"
    assert b"x" * 200 not in report.diff.encode()


def test_a_file_whose_content_was_downloaded_and_not_changed_is_no_change(tree: Tree) -> None:
    (tree.root / "old.bin").write_bytes(b"old")
    assert tree.report().changes == []


def test_a_pointer_stays_one_where_it_is_touched_moved_and_deleted(tree: Tree) -> None:
    tree.run("touch old.bin")
    assert tree.report().changes == []
    tree.run("mv old.bin moved.bin")
    report = tree.report()
    assert short(report) == {"moved.bin": "100644 from old.bin"}
    (change,) = report.changes
    assert change.lfs == change.sha
    tree.run("rm moved.bin")
    assert short(tree.report()) == {"old.bin": "deleted"}


@pytest.mark.parametrize(
    "script", ["rm .gitattributes", "echo '*.png filter=lfs' > .gitattributes", "> .gitattributes"]
)
def test_what_a_rule_held_until_now_is_not_published_raw_when_the_turn_takes_the_rule_away(
    tree: Tree, script: str
) -> None:
    tree.run(f"{script}; echo raw > old.bin; echo raw > new.bin; echo y > good.txt")
    report = tree.report()
    assert set(short(report)) == {".gitattributes", "good.txt"}
    why = "under Git LFS until now, and this turn takes the rule away"
    assert sorted(report.left_out) == [f"new.bin ({why})", f"old.bin ({why})"]


def test_a_rule_that_the_turn_makes_holds_for_what_it_changes(tree: Tree) -> None:
    tree.run(
        "echo '*.png filter=lfs' > dir/.gitattributes; printf raw > dir/a.png; printf raw > b.png; ln -s x dir/l.png"
    )
    found = contents(tree, tree.report())
    assert found["dir/a.png"] == (pointer(b"raw"), b"raw", 3)
    assert found["b.png"] == ("raw", None, 3)
    assert found["dir/l.png"] == ("x", None, 1)


def test_a_macro_and_an_encoding_beside_the_rule_are_seen(tree: Tree) -> None:
    tree.run("printf '[attr]big filter=lfs\\n*.iso big\\n*.bin working-tree-encoding=UTF-16\\n' >> .gitattributes")
    tree.run("printf raw > a.iso; printf raw > old.bin")
    report = tree.report()
    assert contents(tree, report)["a.iso"] == (pointer(b"raw"), b"raw", 3)
    assert report.left_out == ["old.bin (working-tree-encoding=UTF-16 does not run here)"]


def test_the_runner_stores_pointer_and_content(started: Box) -> None:
    sha = started.commit({".gitattributes": RULE, "a": "1"})
    told = started.give("printf large > big.bin", sha)
    (change,) = started.service.result(told).changes
    assert change.sha and change.lfs
    assert told.objects == {change.sha: pointer(b"large").encode(), change.lfs: b"large"}


def test_what_came_by_a_merge_stays_as_it_is_there(started: Box) -> None:
    started.commit({".gitattributes": RULE, "a": "1\n", "old.bin": pointer(b"old")})
    git(started.work, "checkout", "-q", "-b", "theirs")
    theirs = started.commit({".gitattributes": "*.enc filter=crypt\n", "old.bin": "raw now", "key.enc": "sealed"})
    git(started.work, "checkout", "-q", "trunk")
    ours = started.commit({"b": "1\n"})
    told = started.give("echo 2 > a", ours, merge={"ref": "refs/heads/theirs", "sha": theirs})
    result = started.service.result(told)
    assert {change.path for change in result.changes} == {".gitattributes", "a", "key.enc", "old.bin"}
    assert result.left_out == []
