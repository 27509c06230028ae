"""The patch that is kept of a turn that was cut short."""

import subprocess
from pathlib import Path

from k8s.runner.protocol import Change, Result
from loops.protocol.results import shown_diff
from loops.secrets.redact import Redactor
from loops.turns.finishing.unfinished import without

KEY = "-----BEGIN RSA PRIVATE KEY-----\nMIIEow\nIBAAKC\n-----END RSA PRIVATE KEY-----"


def git(folder: Path, *words: str) -> str:
    return subprocess.run(["git", *words], cwd=folder, check=True, capture_output=True, text=True).stdout


def repository(folder: Path) -> Path:
    git(folder, "init", "-q")
    for name in ("a.py", "b.py", "gone.py"):
        (folder / name).write_text(f"{name}\n" * 20)
    git(folder, "add", "-A")
    git(folder, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "first")
    return folder


def result(folder: Path, redactor: Redactor | None = None) -> Result:
    git(folder, "add", "-A")
    diff = git(folder, "diff", "--cached", "-M", "HEAD")
    names = git(folder, "diff", "--cached", "-M", "--name-only", "HEAD").split()
    changes = [Change(name, "100644", "0" * 40) for name in names]
    return Result("timeout", changes=changes, diff=shown_diff(diff, redactor or Redactor()))


def test_a_patch_applies_to_the_commit_that_the_turn_began_from(tmp_path: Path) -> None:
    here = repository(tmp_path)
    (here / "a.py").write_text("a.py\n" * 20 + "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1 @@\n")
    (here / "new file.py").write_text("no line end")
    (here / "gone.py").unlink()
    wanted = result(here)
    work = without(wanted, {})
    assert work is not None and set(work.files) == {"a.py", "new file.py", "gone.py"}
    git(here, "reset", "-q", "--hard", "HEAD")
    (here / "left.patch").write_text(work.patch)
    git(here, "apply", "left.patch")
    assert not (here / "gone.py").exists() and (here / "new file.py").read_text() == "no line end"


def test_what_is_refused_or_cut_or_no_text_is_left_out_and_named_and_the_rest_applies(tmp_path: Path) -> None:
    here = repository(tmp_path)
    (here / "a.py").write_text("a\n")
    (here / "b.py").write_text(f"{KEY}\n")
    (here / "binary").write_bytes(bytes(range(256)))
    (here / "infra.tf").write_text("x\n")
    found = result(here, Redactor([KEY]))
    assert KEY not in found.diff
    work = without(found, {"infra.tf": "refused: protected path"})
    assert work is not None and work.files == ("a.py",)
    assert [each.split(" (")[0] for each in work.left_out] == ["`b.py`", "`binary`", "`infra.tf`"]
    assert "refused: protected path" in work.left_out[2] and "PRIVATE" not in work.patch
    git(here, "reset", "-q", "--hard", "HEAD")
    (here / "left.patch").write_text(work.patch)
    git(here, "apply", "left.patch")
    cut = Result("timeout", changes=found.changes, diff=found.diff[: found.diff.index("\n+a\n")])
    assert without(cut, {}) is None


def test_nothing_is_kept_where_all_of_it_is_refused(tmp_path: Path) -> None:
    here = repository(tmp_path)
    (here / "a.py").write_text("a\n")
    assert without(result(here), {"a.py": "refused: secret"}) is None
