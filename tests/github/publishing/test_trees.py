import pytest

from github.publishing.trees import MAX_ENTRIES, FileChange, batches, blob_sha


def test_a_blob_is_named_as_git_names_it() -> None:
    assert blob_sha(b"") == "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
    assert blob_sha(b"hello\n") == "ce013625030ba8dba906f756967f9e9ca394464a"


def added(path: str, size: int = 1) -> FileChange:
    return FileChange(path, sha="a" * 40, size=size)


def paths(changes: list[FileChange]) -> list[list[str]]:
    return [[change.path for change in portion] for portion in batches(changes)]


def test_a_rename_of_the_only_file_goes_in_one_request() -> None:
    assert paths([FileChange("old"), added("new")]) == [["old", "new"]]


def test_a_file_that_becomes_a_folder_is_deleted_first() -> None:
    assert paths([added("a/b"), added("x"), FileChange("a")]) == [["a"], ["a/b", "x"]]


def test_a_folder_that_becomes_a_file_is_emptied_first() -> None:
    assert paths([added("a"), FileChange("a/b/c"), FileChange("a/d"), FileChange("z")]) == [
        ["a/b/c", "a/d"],
        ["a", "z"],
    ]


def test_many_changes_are_split_into_portions_that_lose_nothing() -> None:
    changes = [added(f"f{number}") for number in range(MAX_ENTRIES * 2 + 5)]
    found = batches(changes)
    assert [len(portion) for portion in found] == [MAX_ENTRIES, MAX_ENTRIES, 5]
    assert [change for portion in found for change in portion] == changes


def test_much_content_is_split_too() -> None:
    changes = [added(f"f{number}", size=60_000) for number in range(100)]
    assert all(sum(change.size for change in portion) <= 2 * 1024 * 1024 for portion in batches(changes))
    assert sum(len(portion) for portion in batches(changes)) == 100


def test_no_changes_are_no_portions() -> None:
    assert batches([]) == []


@pytest.mark.parametrize("count", [1, MAX_ENTRIES, MAX_ENTRIES + 1])
def test_no_portion_is_empty(count: int) -> None:
    assert all(batches([added(f"f{number}") for number in range(count)]))
