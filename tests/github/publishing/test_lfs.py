"""Contents under Git LFS are at GitHub before the commit that names them, once, and never raw in Git."""

import hashlib
import json
from dataclasses import replace
from typing import Any

import pytest

from github.client.errors import GitHubError, PermissionMissing, RepositoryArchived, ServerFault, Unreachable
from github.client.http.answers import error_of
from github.client.http.transport import Answer
from github.client.repository import RepositoryHandle
from github.emulator import blobs
from github.publishing.lfs import LargeFile, LfsRefused, upload
from github.publishing.publish import Publication, publish
from github.publishing.trees import TreeMismatch, blob_sha
from tests.github.conftest import Spot
from tests.github.publishing.conftest import BRANCH, MakeTurn, Turn

CONTENT = b"large\0" * 1000
OID = hashlib.sha256(CONTENT).hexdigest()
POINTER = f"version https://git-lfs.github.com/spec/v1\noid sha256:{OID}\nsize {len(CONTENT)}\n"


def kept(spot: Spot, oid: str = OID) -> bytes | None:
    """The object as it can be had from GitHub."""
    file = blobs.file_of(spot.local.hub.store, blobs.lfs_path(spot.row, oid))
    return file.read_bytes() if file.is_file() else None


async def reported(box: Turn, *, pointer: str = POINTER, content: bytes | None = CONTENT) -> Publication:
    """A turn with one file under Git LFS, as the runner reports it; without content it is one that nobody has."""
    (box.clone.folder / "big.bin").write_text(pointer)
    wanted = await box.report()
    sha = blob_sha(pointer.encode())
    behind = sha if content is None else blob_sha(content)
    box.contents[behind] = pointer.encode() if content is None else content
    return replace(wanted, large=[LargeFile("big.bin", sha, behind)])


async def test_the_object_is_there_before_the_commit_and_the_tree_has_the_pointer(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    wanted = await reported(box)
    done = await publish(repository, wanted, box.content_of)
    assert kept(spot) == CONTENT
    assert (await repository.get(f"git/commits/{done.commit}"))["tree"]["sha"] == wanted.tree
    # what a person pushes on top of it is taken: the object that its history names is there
    await box.clone.git("fetch", "-q", "origin", BRANCH)
    await box.clone.git("checkout", "-q", "-f", "FETCH_HEAD")
    await box.clone.commit({"more": "1"})
    await box.clone.push(BRANCH)


async def test_an_object_that_is_there_is_not_sent_again_also_after_the_process_died_before_its_push(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = await turn()
    wanted = await reported(box)
    puts: list[str] = []
    transport = repository.app.transport
    send = transport.send_elsewhere

    async def counted(method: str, url: str, headers: Any, body: Any) -> None:
        puts.append(method)
        await send(method, url, headers, body)

    monkeypatch.setattr(transport, "send_elsewhere", counted)
    spot.local.add_fault("error", method="POST", path="/repos/*/git/trees", times=1, status=422)
    with pytest.raises(TreeMismatch):
        await publish(repository, wanted, box.content_of)
    assert (kept(spot), puts) == (CONTENT, ["PUT", "POST"])
    done = await publish(repository, wanted, box.content_of)
    again = await publish(repository, wanted, box.content_of)
    assert (puts, again.commit, again.already) == (["PUT", "POST"], done.commit, True)


async def test_an_upload_that_broke_off_before_it_was_confirmed_is_made_again(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, monkeypatch: pytest.MonkeyPatch
) -> None:
    box = await turn()
    wanted = await reported(box)
    transport = repository.app.transport
    send = transport.send_elsewhere

    async def broken(method: str, url: str, headers: Any, body: Any) -> None:
        if method == "POST":
            raise Unreachable("the line broke")
        await send(method, url, headers, body)

    with monkeypatch.context() as patch:
        patch.setattr(transport, "send_elsewhere", broken)
        with pytest.raises(Unreachable):
            await publish(repository, wanted, box.content_of)
    assert kept(spot) is None
    await publish(repository, wanted, box.content_of)
    assert kept(spot) == CONTENT


async def test_a_pointer_whose_content_nobody_has_is_refused_in_words(
    repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    wanted = await reported(box, content=None)
    with pytest.raises(LfsRefused, match=rf"big.bin is the pointer to a Git LFS object \({OID}\) that GitHub does not"):
        await publish(repository, wanted, box.content_of)


async def test_a_pointer_to_what_github_has_is_taken(repository: RepositoryHandle, turn: MakeTurn) -> None:
    first = await turn()
    await publish(repository, await reported(first), first.content_of)
    second = await turn("t_2", on="greenloop/13-other")
    wanted = await reported(second, content=None)
    other = replace(wanted, message=wanted.message.replace("t_1", "t_2"))
    assert (await publish(repository, other, second.content_of)).commit


@pytest.mark.parametrize(
    ("pointer", "content"),
    [
        (POINTER, CONTENT + b"more"),
        (POINTER.replace(OID, "0" * 64), CONTENT),
        (POINTER.replace(str(len(CONTENT)), "1"), CONTENT),
        ("password = hunter2\n" + POINTER, CONTENT),
        (POINTER.replace("oid", "note password\noid"), CONTENT),
        ("no pointer\n", CONTENT),
    ],
)
async def test_a_pointer_that_says_anything_but_its_content_is_not_published(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn, pointer: str, content: bytes
) -> None:
    box = await turn()
    with pytest.raises(TreeMismatch):
        await publish(repository, await reported(box, pointer=pointer, content=content), box.content_of)
    assert kept(spot) is None


@pytest.mark.parametrize(
    ("status", "said", "kind"),
    [
        (403, "This repository exceeded its LFS budget.", LfsRefused),
        (422, "Git LFS is disabled for this repository.", LfsRefused),
        (507, "Insufficient storage", LfsRefused),
        (502, "Bad gateway", ServerFault),
        (403, "Resource not accessible by integration", PermissionMissing),
    ],
)
async def test_what_lfs_refuses_for_good_is_told_in_its_words_and_an_outage_is_not_taken_for_it(
    repository: RepositoryHandle,
    turn: MakeTurn,
    monkeypatch: pytest.MonkeyPatch,
    status: int,
    said: str,
    kind: type[GitHubError],
) -> None:
    async def refuse(self: RepositoryHandle, path: str, **_: Any) -> Answer:
        raise error_of(f"POST /{path}", status, {}, json.dumps({"message": said}).encode(), 0.0)

    box = await turn()
    wanted = await reported(box)
    monkeypatch.setattr(RepositoryHandle, "beside_git", refuse)
    with pytest.raises(kind, match=said):
        await upload(repository, wanted.large, box.content_of)


async def test_an_archived_repository_takes_no_object(spot: Spot, repository: RepositoryHandle, turn: MakeTurn) -> None:
    box = await turn()
    wanted = await reported(box)
    spot.row.archived = True
    with pytest.raises(RepositoryArchived):
        await upload(repository, wanted.large, box.content_of)


async def test_a_repository_that_was_renamed_takes_the_object(
    spot: Spot, repository: RepositoryHandle, turn: MakeTurn
) -> None:
    box = await turn()
    wanted = await reported(box)
    await repository.full_name()
    await spot.act(spot.owner, "PATCH", "", name="renamed")
    await publish(repository, wanted, box.content_of)
    assert kept(spot) == CONTENT
