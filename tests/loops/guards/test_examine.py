from pathlib import Path

import pytest

from github.repositories.config import LimitSettings, RepositoryConfig
from k8s.runner.protocol import Change
from loops.guards import Proposal, examine
from loops.secrets.redact import Redactor
from tests.loops.guards.proposals import Files, Turn, codes

TOKEN = "ghp_" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3zA5"
BODY = "MIIEpAIBAAKCAQEA7abcdEFGH12345\nq83jfkLs0Qm29xZ1pAAbbCC\n"
KEY = f"-----BEGIN RSA PRIVATE KEY-----\n{BODY}-----END RSA PRIVATE KEY-----\n"


async def test_an_ordinary_change_is_published_without_a_word(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {"a.py": "x = 1\n"}, {"a.py": "x = 2\n", "docs/new page.md": "hello\n"})
    found = await turn.found()
    assert found.publishable and found.notes == ()


@pytest.mark.parametrize("base", [True, False])
async def test_a_new_secret_is_refused_by_file_line_and_kind_without_its_value(tmp_path: Path, base: bool) -> None:
    turn = Turn(tmp_path, {"a.py": "x = 1\ny = 2\n"}, {"a.py": f'x = 1\nT = "{TOKEN}"\ny = 2\n'})
    found = await turn.found(base=base)
    [refusal] = found.refusals
    assert (refusal.code, refusal.path, refusal.line) == ("secret", "a.py", 2)
    assert "GitHub token" in refusal.text and "`a.py` line 2" in refusal.text
    assert TOKEN not in repr(found)


@pytest.mark.parametrize("base", [True, False])
async def test_a_secret_that_was_there_before_is_not_the_turns(tmp_path: Path, base: bool) -> None:
    old = "\n".join([f'T = "{TOKEN}"', *("pass" for _ in range(20)), "x = 1\n"])
    turn = Turn(tmp_path, {"a.py": old}, {"a.py": old.replace("x = 1", "x = 2")})
    assert (await turn.found(base=base)).publishable


async def test_a_secret_that_only_moved_down_or_with_its_file_is_not_new(tmp_path: Path) -> None:
    old = f'T = "{TOKEN}"\n' + "pass\n" * 30
    turn = Turn(
        tmp_path,
        {"a.py": old, "k.txt": KEY + "x\n" * 30},
        {"a.py": None, "b.py": "# b\n" + old, "k.txt": "# moved\n" + KEY + "x\n" * 30},
    )
    assert (await turn.found()).publishable


async def test_what_the_redactor_took_out_of_the_diff_is_found_in_the_blob(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {"a.py": "a\nb\n"}, {"a.py": f"a\n{KEY}\nmore\nb\n"})
    stored = Redactor().text(turn.diff)
    assert "MIIE" not in stored
    for base in (True, False):
        assert codes((await turn.found(diff=stored, base=base)).refusals) == ["secret"]


async def test_a_diff_that_was_cut_hides_nothing(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {}, {"a.py": "x\n" * 1000, "z.py": f"T = '{TOKEN}'\n"})
    assert codes((await turn.found(diff=turn.diff[:900], base=False)).refusals) == ["secret"]


async def test_a_value_that_the_turn_was_given_is_refused_in_any_spelling_and_file(tmp_path: Path) -> None:
    given = "correct horse battery"
    files: Files = {
        "a.txt": f"it is {given}\n",
        "b.bin": b"\0\1" + given.encode(),
        "c.json": '{"v": "correct%20horse%20battery"}\n',
    }
    turn = Turn(tmp_path, {}, files)
    found = await turn.found(redactor=Redactor([given]))
    assert [finding.path for finding in found.refusals] == ["a.txt", "b.bin", "c.json"]
    assert given not in repr(found)


@pytest.mark.parametrize("path", ["tests/test_auth.py", "docs/setup.md", "src/auth.test.ts", "README.md"])
async def test_made_up_credentials_are_no_secrets_in_tests_and_documents(tmp_path: Path, path: str) -> None:
    turn = Turn(
        tmp_path,
        {},
        {path: 'password = "8f3kD92kfLs0Qm29xZ1p"\n', "src/auth.py": 'password = "8f3kD92kfLs0Qm29xZ1p"\n'},
    )
    assert [finding.path for finding in (await turn.found()).refusals] == ["src/auth.py"]


async def test_the_refusal_of_an_env_file_says_what_to_do(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {}, {".env": "A=1\n", ".env.example": "A=\n"})
    [refusal] = (await turn.found()).refusals
    assert (refusal.code, refusal.path) == ("env_file", ".env")
    assert "`.env.example`" in refusal.text and ".gitignore" in refusal.text


async def test_the_env_file_of_ours_is_refused_whatever_its_name_even_when_it_took_a_file_away(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {"conf/settings.txt": "a\n"}, {"conf/settings.txt": None, "vars.txt": "A=1\n"})
    found = await turn.found(env_files=frozenset({"conf/settings.txt", "vars.txt"}))
    assert codes(found.refusals) == ["env_file", "env_file"]


async def test_taking_an_env_file_out_of_the_repository_is_welcome(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {".env": "A=1\n"}, {".env": None})
    assert (await turn.found()).publishable


async def test_a_link_out_of_the_repository_is_refused_and_one_inside_is_not(tmp_path: Path) -> None:
    turn = Turn(
        tmp_path,
        {"a.txt": "a\n"},
        {},
        links={"in": "a.txt", "d/up": "../a.txt", "d/out": "../../etc/passwd", "abs": "/etc/passwd"},
    )
    assert [(each.code, each.path) for each in (await turn.found()).refusals] == [
        ("symlink", "abs"),
        ("symlink", "d/out"),
    ]


async def test_a_workflow_is_protected_by_default_and_free_where_the_repository_says_so(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {}, {".github/workflows/ci.yml": "on: push\n"})
    assert codes((await turn.found()).refusals) == ["protected_path"]
    free = RepositoryConfig(protected_paths=[])
    assert (await turn.found(config=free)).publishable
    found = await turn.found(config=free, workflows_allowed=False)
    assert codes(found.refusals) == ["workflows_permission"] and "workflows: write" in found.refusals[0].text


async def test_greenloops_own_settings_are_protected_always(tmp_path: Path) -> None:
    turn = Turn(
        tmp_path,
        {".github/greenloop.yml": "label: x\n" * 9},
        {".github/greenloop.yml": None, "old.yml": "label: x\n" * 9},
    )
    assert codes((await turn.found(config=RepositoryConfig(protected_paths=[]))).refusals) == ["own_config"]


async def test_a_rename_out_of_a_protected_folder_and_one_into_it_are_both_refused(tmp_path: Path) -> None:
    text = "line\n" * 20
    turn = Turn(
        tmp_path,
        {"infra/a.tf": text + "a", "b.tf": "other\n" * 20},
        {"infra/a.tf": None, "a.tf": text + "a", "b.tf": None, "Infra/b.tf": "other\n" * 20},
    )
    found = await turn.found(config=RepositoryConfig(protected_paths=["infra/**"]))
    assert [each.path for each in found.refusals] == ["Infra/b.tf", "infra/a.tf"]


async def test_more_files_or_bytes_than_allowed_are_refused_with_the_numbers(tmp_path: Path) -> None:
    turn = Turn(tmp_path, {}, {f"f{number}.txt": "x" * 50 for number in range(4)})
    few = await turn.found(config=RepositoryConfig(limits=LimitSettings(files=3)))
    assert codes(few.refusals) == ["too_many_files"] and "4 files" in few.refusals[0].text
    assert codes((await turn.found(changed_bytes=100)).refusals) == ["too_many_bytes"]
    assert codes((await turn.found(file_bytes=49)).refusals) == ["file_too_large"] * 4


async def test_what_somebody_elses_merged_commit_holds_is_not_the_turns(tmp_path: Path) -> None:
    turn = Turn(
        tmp_path, {"gone.yml": "x\n"}, {".github/workflows/ci.yml": "on: push\n", "a.py": "a = 1\n", "gone.yml": None}
    )
    theirs = next(change for change in turn.changes if change.path.startswith(".github"))
    rules = RepositoryConfig(protected_paths=[".github/**", "gone.yml"])
    assert codes((await turn.found(config=rules)).refusals) == ["protected_path", "protected_path"]
    assert (await turn.found(config=rules, merged={theirs.path: (theirs.mode, str(theirs.sha))})).publishable
    changed = await turn.found(config=rules, merged={theirs.path: (theirs.mode, "0" * 40)})
    assert [each.path for each in changed.refusals] == [theirs.path]


async def test_a_bad_name_is_refused_before_anything_is_read() -> None:
    async def never(sha: str) -> bytes:
        raise AssertionError(sha)

    found = await examine(Proposal([Change("a/../../b", "100644", "1" * 40), Change("sub", "160000", "2" * 40)]), never)
    assert codes(found.refusals) == ["bad_path", "submodule"]
