"""A checkout at exactly one commit, fetched with a token that leaves no trace."""

import shutil
import subprocess
from pathlib import Path

import pytest

from k8s.runner import protocol
from k8s.runner.git import object_store
from k8s.runner.git.checkout import check_out, head
from k8s.runner.git.object_store import FetchFailed, Store
from k8s.runner.git.work_tree import WorkTree
from k8s.runner.protocol import FetchToken, Merge, TurnRepository
from k8s.runner.state import Home
from tests.k8s.runner.conftest import Box
from tests.k8s.runner.double import git


class Place:
    """A home, and a way to check commits out in it."""

    def __init__(self, box: Box) -> None:
        self.box = box
        self.home = Home(box.home)
        self.home.make()
        self.fetches = 0
        self.said = ""

    def checkout(self, sha: str, merge: Merge | None = None, depth: int = 50, branch: str = "greenloop/x") -> Path:
        repository = TurnRepository(7, "o/r", sha, "refs/heads/trunk", branch, depth=depth, merge=merge)
        here = Store(self.home, repository)
        with here.using():
            if not here.has_all():
                self.fetches += 1
                told = self.box.give("", sha)
                told.tokens.append(f"ghs_{self.fetches}")
                here.fetch(FetchToken(f"{self.box.service.url}/o/r.git", f"ghs_{self.fetches}"))
                told.revoked.append(f"ghs_{self.fetches}")
            shutil.rmtree(self.box.checkout, ignore_errors=True)
            self.box.checkout.mkdir(parents=True)
            to_merge = {"ref": merge.ref, "sha": merge.sha} if merge else None
            self.said = check_out(self.box.checkout, here.path, {"sha": sha, "branch": branch, "merge": to_merge})
        return self.box.checkout


@pytest.fixture
def place(box: Box, monkeypatch: pytest.MonkeyPatch) -> Place:
    monkeypatch.setattr(object_store, "TRIES", (0.0, 0.05, 0.05, 0.05))
    return Place(box)


def files(folder: Path) -> dict[str, str]:
    return {
        str(path.relative_to(folder)): path.read_text()
        for path in folder.rglob("*")
        if path.is_file() and ".git" not in path.relative_to(folder).parts
    }


def test_nothing_of_a_checkout_is_there_in_the_next_turn_not_even_what_git_ignores(started: Box) -> None:
    first = started.commit({"a": "1", "d/b": "1", ".gitignore": "cache/\n"})
    second = started.commit({"a": "2"})
    harm = (
        "echo x > a; rm d/b; echo x > new; mkdir cache; echo x > cache/f; git init -q nested; rm -rf .git; ln -s / .git"
    )
    assert started.service.result(started.give(harm, first)).reason == protocol.EXITED
    told = started.give(
        "cat a d/b; ls -A; git status --porcelain; git rev-parse HEAD; git branch --show-current", second
    )
    assert started.service.result(told).exit_code == 0
    assert told.output.decode().split() == ["21.git", ".gitignore", "a", "d", second, "greenloop/issue-1"]


def test_a_commit_that_is_here_is_not_fetched_again(place: Place) -> None:
    sha = place.box.commit({"a": "1"})
    for _ in range(2):
        place.checkout(sha)
    assert place.fetches == 1


BREAK = [
    "rm -rf objects/*",
    "rm -rf HEAD refs",
    "for f in $(find objects -type f); do chmod +w $f; echo nonsense > $f; done",
    "rm -rf objects; ln -s /etc objects",
    "rm -rf refs; ln -s /etc refs; echo nonsense > shallow; echo nonsense > packed-refs",
    "cd ..; rm -rf 7; echo nonsense > 7",
]


def test_a_broken_store_is_made_anew_by_the_turn(started: Box) -> None:
    sha = started.commit({"a": "1"})
    assert started.service.result(started.give("true", sha)).exit_code == 0
    for harm in BREAK:
        sha = started.commit({"b": harm})
        script = f"cd {started.home}/given/repos/7; {harm}"
        started.service.result(started.give(script, None))
        told = started.give("cat b", sha)
        result = started.service.result(told)
        assert result.exit_code == 0, (harm, result.message)
        assert told.output.decode() == harm
        assert told.revoked == told.tokens


def test_what_an_agent_plants_in_git_configuration_is_never_run_by_us(started: Box, tmp_path: Path) -> None:
    sha = started.commit({"a": "1", ".gitattributes": "* diff=evil merge=evil\na filter=evil\n"})
    bait = f"sh -c 'touch {tmp_path}/ran; cat'"
    planted = f"""
        for where in "$PWD/.git/config" ~/.gitconfig {started.home}/given/repos/7/config; do
            git config -f $where core.fsmonitor "touch {tmp_path}/ran"
            git config -f $where filter.evil.clean "{bait}"
            git config -f $where filter.evil.smudge "{bait}"
            git config -f $where filter.evil.process "{bait}"
            git config -f $where diff.evil.textconv "{bait}"
            git config -f $where diff.evil.command "{bait}"
            git config -f $where diff.external "{bait}"
            git config -f $where credential.helper "!touch {tmp_path}/ran"
            git config -f $where core.hooksPath ~/hooks
            git config -f $where url.http://127.0.0.1:1/.insteadOf {started.service.url}
            git config -f $where http.proxy http://127.0.0.1:1
        done
        for folder in ~/hooks .git/hooks {started.home}/given/repos/7/hooks; do
            mkdir -p $folder
            for hook in post-checkout reference-transaction post-index-change pre-commit fsmonitor-watchman; do
                printf '#!/bin/sh\\ntouch {tmp_path}/ran\\n' > $folder/$hook; chmod +x $folder/$hook
            done
        done
        echo ~/evil > {started.home}/given/repos/7/commondir
        echo 2 > a; echo 2 > c
    """
    result = started.service.result(started.give(planted, sha))
    assert [change.path for change in result.changes] == ["c"], result
    assert result.left_out == ["a (filter=evil does not run here)"]
    second = started.commit({"b": "1"})
    result = started.service.result(started.give("echo 3 > a; echo 3 > c", second))
    assert [change.path for change in result.changes] == ["c"], result
    assert not (tmp_path / "ran").exists()


def test_the_token_is_used_once_revoked_before_the_agent_starts_and_left_nowhere(started: Box) -> None:
    sha = started.commit({"a": "1"})
    script = (
        "grep -r ghs_ ~ /proc/[0-9]*/environ /proc/[0-9]*/cmdline 2>/dev/null | grep -v 'grep' ; git config -l; env"
    )
    told = started.give(script, sha)
    started.service.wait(lambda: told.first_output)
    assert told.revoked == told.tokens
    assert len(told.tokens) == 1
    started.service.result(told)
    printed = told.output.decode()
    assert "ghs_" not in printed
    assert "extraheader" not in printed.lower()
    asked = [request for request in started.service.requests if request.endswith("/token")]
    assert asked == ["POST /turns/t_1/token", "DELETE /turns/t_1/token"]


def test_the_token_is_neither_in_the_arguments_nor_in_a_file_while_git_fetches(started: Box) -> None:
    sha = started.commit({"a": "1"})
    told = started.give("true", sha)
    seen: list[str] = []

    def look(url: str) -> None:
        found = subprocess.run(
            ["bash", "-c", f"cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '; grep -r ghs_ {started.home}"],
            capture_output=True, text=True, errors="replace", check=False,
        )  # fmt: skip
        seen.append(found.stdout)

    started.service.before_git = look
    started.service.result(told)
    assert seen
    assert "http://" in "".join(seen)
    assert told.tokens[0] not in "".join(seen)


def test_a_token_that_is_not_valid_for_a_moment_is_tried_again(place: Place) -> None:
    sha = place.box.commit({"a": "1"})
    place.box.service.refuse_git = 2
    assert files(place.checkout(sha)) == {"a": "1"}


def test_a_repository_that_is_gone_is_said_in_words_without_the_token(place: Place) -> None:
    with pytest.raises(FetchFailed) as failed:
        place.checkout("a" * 40)
    assert "of o/r could not be fetched" in str(failed.value)
    assert "not found" in str(failed.value)
    assert "ghs_" not in str(failed.value)


def test_the_token_of_a_fetch_that_failed_is_revoked_too(started: Box) -> None:
    started.commit({"a": "1"})
    told = started.give("true", "f" * 40)
    result = started.service.result(told)
    assert result.reason == protocol.FETCH_FAILED
    assert "ffffffffffff" in result.message
    assert told.revoked == told.tokens != []


def test_a_server_that_hands_out_only_branch_tips_is_asked_for_the_branch(place: Place) -> None:
    sha = place.box.commit({"a": "1"})
    tip = place.box.commit({"a": "2"})
    place.box.service.git_protocol = ""
    assert files(place.checkout(sha))["a"] == "1"
    assert files(place.checkout(tip))["a"] == "2"
    with pytest.raises(FetchFailed, match="not among the last 50"):
        place.checkout("e" * 40)


def test_history_is_as_deep_as_asked(place: Place) -> None:
    for number in range(5):
        sha = place.box.commit({"a": str(number)})
    place.checkout(sha, depth=3)
    assert git(place.box.checkout, "rev-list", "--count", "HEAD") == "3"


def test_submodules_and_large_file_storage_are_left_as_they_are(place: Place) -> None:
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "0" * 64 + "\nsize 5\n"
    place.box.commit({"a": "1", ".gitattributes": "*.bin filter=lfs\n", "x.bin": pointer})
    git(place.box.work, "update-index", "--add", "--cacheinfo", f"160000,{'c' * 40},sub")
    (place.box.work / ".gitmodules").write_text('[submodule "sub"]\n\tpath = sub\n\turl = ../sub\n')
    git(place.box.work, "add", ".gitmodules")
    git(place.box.work, "commit", "-qm", "sub")
    git(place.box.work, "push", "-q", str(place.box.bare), "HEAD")
    folder = place.checkout(git(place.box.work, "rev-parse", "HEAD"))
    assert (folder / "x.bin").read_text() == pointer
    assert list((folder / "sub").iterdir()) == []


def test_a_branch_name_that_git_would_refuse_leaves_the_head_detached(place: Place) -> None:
    sha = place.box.commit({"a": "1"})
    for branch in ["../../x", "a..b", "x.lock", "/abs", "-x", "", "a//b"]:
        folder = place.checkout(sha, branch=branch)
        assert git(folder, "rev-parse", "HEAD", "--abbrev-ref", "HEAD").split() == [sha, "HEAD"], branch


def fork(place: Place, ours: dict[str, str | bytes], theirs: dict[str, str | bytes]) -> tuple[str, str]:
    """Two commits on one base, theirs far from it."""
    base = place.box.commit({"a": "1\n2\n3\n", "b": "1\n"})
    git(place.box.work, "checkout", "-q", "-b", "theirs")
    other = place.box.commit(theirs)
    git(place.box.work, "checkout", "-q", "trunk")
    git(place.box.work, "reset", "-q", "--hard", base)
    return place.box.commit(ours), other


def test_a_merge_that_is_clean_is_in_the_tree(place: Place) -> None:
    ours, theirs = fork(place, {"a": "0\n1\n2\n3\n"}, {"b": "2\n", "c": "new"})
    folder = place.checkout(ours, Merge("refs/heads/theirs", theirs))
    assert files(folder) == {"a": "0\n1\n2\n3\n", "b": "2\n", "c": "new"}
    assert place.said == ""


def test_a_merge_with_conflicts_leaves_them_in_the_files_and_git_knows(place: Place) -> None:
    ours, theirs = fork(place, {"a": "ours\n2\n3\n"}, {"a": "theirs\n2\n3\n"})
    folder = place.checkout(ours, Merge("refs/heads/theirs", theirs))
    assert "<<<<<<<" in (folder / "a").read_text()
    assert git(folder, "status", "--porcelain") == "UU a"
    assert place.said == "Files with merge conflicts when the agent began: 1."
    # and the checkout can be used for something else afterwards
    assert files(place.checkout(ours))["a"] == "ours\n2\n3\n"


def test_a_merge_base_beyond_the_depth_is_fetched(place: Place) -> None:
    base = place.box.commit({"a": "1\n2\n3\n"})
    for number in range(4):
        ours = place.box.commit({"b": str(number)})
    git(place.box.work, "checkout", "-q", "-b", "theirs", base)
    theirs = place.box.commit({"c": "1"})
    folder = place.checkout(ours, Merge("refs/heads/theirs", theirs), depth=1)
    assert files(folder) == {"a": "1\n2\n3\n", "b": "3", "c": "1"}


def test_the_agents_head_is_read_without_running_git(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    read = WorkTree(tmp_path, "work").small_file
    git(work, "init", "-q", "-b", "main")
    assert head(read) is None
    git(work, "commit", "-q", "--allow-empty", "-m", "x")
    sha = git(work, "rev-parse", "HEAD")
    assert head(read) == sha
    git(work, "pack-refs", "--all")
    assert head(read) == sha
    git(work, "checkout", "-q", "--detach")
    assert head(read) == sha
    assert head(WorkTree(tmp_path, "nowhere").small_file) is None
    (work / ".git/HEAD").write_text("ref: refs/heads/../../../../secret\n")
    (tmp_path / "secret").write_text(sha)
    assert head(read) is None
