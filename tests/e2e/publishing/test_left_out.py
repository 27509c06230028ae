"""What a turn made and was not committed is told to people and to the next turn; what is under Git LFS is published."""

import hashlib
import json
import os
from pathlib import Path

import pytest

from github.emulator import blobs
from tests.e2e.house import REPOSITORY, house
from tests.e2e.ownloop import HEAD, install
from tests.loops.prompts.test_render import outside_fences
from tests.walking import files

TELL = """
import json
pathlib.Path(__file__).with_name("told").open("a").write(json.dumps(prompt) + "\\n")
"""
AGENT = (
    TELL
    + r"""
first = "Left out of the last commit" not in prompt
if first:
    os.mkfifo("pipe")
    os.makedirs("pkg/__pycache__")
    pathlib.Path("pkg/__pycache__/a.pyc").write_bytes(b"x")
    pathlib.Path("two\nlines").write_text("x")
    pathlib.Path("large.txt").write_bytes(b"x" * 6_000_000)
    subprocess.run(["git", "init", "-q", "inner"], check=True)
    pathlib.Path("sealed.enc").write_text("raw")
pathlib.Path("value.txt").write_text("still wrong" if first else "right")
"""
)
LEFT_OUT = (
    "pipe (a FIFO)",
    "pkg/__pycache__/a.pyc (a by-product of a tool)",
    "two\\nlines (its name holds a newline)",
    "large.txt (it has 6000000 bytes; the limit for one file is 5000000)",
    "inner/ (a repository of its own)",
    "sealed.enc (filter=crypt does not run here)",
)


async def test_what_is_left_out_stands_in_the_comment_and_in_the_next_prompt(tmp_path: Path) -> None:
    async with house(tmp_path, files={".gitattributes": "*.enc filter=crypt\n"}, file_bytes=5_000_000) as home:
        home.agent(AGENT)
        number = await home.issue()
        await home.comment(number, "@greenloop make it right")
        session = await home.ended()
        assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
        comment = (await home.bot_comments(number))[0]
        (said,) = files(home.folder, "told")
        first, repair = map(json.loads, said.read_text().splitlines())
        assert "Left out of the last commit" not in first
        for each in LEFT_OUT:
            assert each in comment, comment
            assert f"- `{each}`" in outside_fences(repair), repair
        listed = home.local.repository(REPOSITORY).git.text("ls-tree", "-r", "--name-only", str(session.branch))
        assert listed.split() == [".gitattributes", ".github/workflows/ci.yml", "value.txt"]


async def test_a_file_under_git_lfs_is_published_as_its_pointer_with_its_content_beside_git(tmp_path: Path) -> None:
    content = b"large\0" * 50_000
    oid = hashlib.sha256(content).hexdigest()
    old = "version https://git-lfs.github.com/spec/v1\noid sha256:" + "1" * 64 + "\nsize 5\n"
    rules = {".gitattributes": "*.bin filter=lfs diff=lfs merge=lfs -text\n", "old.bin": old}
    async with house(tmp_path, files=rules) as home:
        home.agent(
            TELL
            + """
            assert pathlib.Path("old.bin").read_text().startswith("version https://git-lfs")
            pathlib.Path("big.bin").write_bytes(b"large\\0" * 50_000)
            pathlib.Path("value.txt").write_text("right")
            """.replace("\n            ", "\n")
        )
        number = await home.issue()
        await home.comment(number, "@greenloop make it right")
        session = await home.ended()
        assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
        repository = home.local.repository(REPOSITORY)
        assert blobs.file_of(home.local.hub.store, blobs.lfs_path(repository, oid)).read_bytes() == content
        pointer = f"version https://git-lfs.github.com/spec/v1\noid sha256:{oid}\nsize {len(content)}\n"
        assert repository.git.text("show", f"{session.branch}:big.bin").strip() == pointer.strip()
        assert repository.git.text("show", f"{session.branch}:old.bin").strip() == old.strip()
        (said,) = files(home.folder, "told")
        assert "Files under Git LFS" in outside_fences(json.loads(said.read_text().splitlines()[0]))
        assert "Left out" not in (await home.bot_comments(number))[0]


async def test_a_secret_in_a_file_under_git_lfs_is_not_uploaded(tmp_path: Path) -> None:
    token = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
    async with house(tmp_path, files={".gitattributes": "*.conf filter=lfs\n"}) as home:
        home.agent(f"pathlib.Path('a.conf').write_text('T = ' + 'ghp_' + {token[4:]!r})")
        number = await home.issue()
        await home.comment(number, "@greenloop make it right")
        session = await home.ended()
        assert (session.status, session.reason) == ("failed", "push_refused")
        assert "`a.conf`" in (await home.bot_comments(number))[0]
        assert not list((home.local.hub.store.folder / "lfs").rglob("*"))


async def test_what_the_agent_wrote_by_an_edit_tool_is_committed_though_it_looks_like_a_by_product(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    install(tmp_path / "bin", tmp_path / "agent.py")
    monkeypatch.setenv("PATH", f"{tmp_path / 'bin'}:{os.environ['PATH']}")
    async with house(tmp_path) as home:
        await home.account()
        home.agent(
            HEAD
            + """
tell("session", id="c1")
os.makedirs("target")
edited("target/rules.txt", "value.txt")
pathlib.Path("target/built").write_text("x")
done()
"""
        )
        number = await home.issue()
        await home.comment(number, "@greenloop make it right --runtime native")
        session = await home.ended()
        assert (session.status, session.outcome) == ("completed", "green"), await home.describe()
        listed = home.local.repository(REPOSITORY).git.text("ls-tree", "-r", "--name-only", str(session.branch))
        assert listed.split() == [".github/workflows/ci.yml", "target/rules.txt", "value.txt"]
        comment = (await home.bot_comments(number))[0]
        assert "target/built (a by-product of a tool)" in comment and "target/rules.txt (" not in comment
