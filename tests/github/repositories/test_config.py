import json
from pathlib import Path

import jsonschema_rs
import pytest
import yaml

import github
from github.repositories.config import RepositoryConfig, load, schema

EVERYTHING = """\
runtime: codex
model: gpt-5
label: fix-me
autofix:
  pull_requests: all
  authors: [octocat, "*-team"]
  default_branch: true
checks:
  ignore: ["deploy*", "codecov/*"]
  required_only: true
  settle_seconds: 5
  longest_wait_minutes: 60
limits:
  attempts: 5
  files: 20
  minutes: 15
  steps: 50
  tokens: 500000
  cost: 2.5
protected_paths: [".github/**", "migrations/**"]
test_guard: block
branch_prefix: bot/fix
draft_until_green: false
instructions: |
  Use tabs.
env_secrets: [DATABASE_URL]
"""


def test_every_setting_is_read() -> None:
    loaded = load(EVERYTHING)
    assert loaded.problems == ()
    config = loaded.config
    assert (config.runtime, config.model, config.label) == ("codex", "gpt-5", "fix-me")
    assert config.autofix.author_matches("OctoCat")
    assert config.autofix.author_matches("red-team")
    assert not config.autofix.author_matches("somebody")
    assert config.checks.ignore == ["deploy*", "codecov/*"]
    assert (config.limits.attempts, config.limits.cost) == (5, 2.5)
    assert config.instructions == "Use tabs.\n"
    assert config.env_secrets == ["DATABASE_URL"]


@pytest.mark.parametrize("text", [None, "", b"", "# nothing\n", "---\n", "null", "limits:\n", "autofix: {}\n"])
def test_an_empty_file_is_the_defaults(text: str | bytes | None) -> None:
    assert load(text).config == RepositoryConfig()
    assert load(text).problems == ()


def test_the_defaults_are_careful() -> None:
    config = RepositoryConfig()
    assert config.limits.attempts == 3
    assert config.protected_paths == [".github/workflows/**"]
    assert config.draft_until_green
    assert not config.autofix.default_branch
    assert config.autofix.pull_requests == "ours"


def test_a_bare_off_is_the_word_off() -> None:
    config = load("test_guard: off\nautofix:\n  pull_requests: off\n").config
    assert (config.test_guard, config.autofix.pull_requests) == ("off", "off")


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("runtime: codex\nlimts:\n  attempts: 3\n", 2, ["limts", "did you mean `limits`"]),
        ("limits:\n  attempts: 3\n  fils: 2\n", 3, ["limits.fils", "did you mean `files`"]),
        ("limits:\n  attempts: many\n", 2, ["limits.attempts", "integer"]),
        ("limits:\n  attempts: '3'\n", 2, ["limits.attempts", "integer"]),
        ("limits:\n  attempts: yes\n", 2, ["limits.attempts", "integer"]),
        ("limits:\n  attempts: 51\n", 2, ["less than or equal to 50"]),
        ("limits:\n  minutes: 0\n", 2, ["greater than or equal to 1"]),
        ("\n\ntest_guard: loud\n", 3, ["'off', 'warn' or 'block'"]),
        ("checks: fast\n", 1, ["checks", "mapping of names to values"]),
        ("checks:\n  ignore: x\n", 2, ["checks.ignore", "list"]),
        ("checks:\n  ignore:\n    - a\n    - 5\n", 4, ["checks.ignore.1", "string"]),
        ("branch_prefix: 'a b'\n", 1, ["branch_prefix", "no valid branch name"]),
        ("branch_prefix: '/'\n", 1, ["branch_prefix", "empty"]),
        ("env_secrets: ['A B']\n", 1, ["env_secrets.0"]),
        ("runtime: Codex Mini\n", 1, ["runtime"]),
        ("runtime: a\nruntime: b\n", 2, ["runtime", "given twice"]),
        ("limits: {attempts: 1, attempts: 2}\n", 1, ["limits.attempts", "given twice"]),
        ("a: [1, 2\nb: 3\n", 2, ["no YAML"]),
        ("a:\n\t- b\n", 2, ["no YAML"]),
        ("- a\n- b\n", 1, ["no mapping"]),
        ("just text", 1, ["no mapping"]),
        ("label: !!python/object/apply:os.system ['true']\n", 1, ["label", "tag"]),
        ("label: !secret x\n", 1, ["label", "tag"]),
        ("a: 1\n---\nb: 2\n", 2, ["no YAML"]),
        ("label: 2026-99-99\n", 1, ["label", "cannot be read"]),
        ("base: &b {attempts: 1}\nlimits:\n  <<: *b\n", 3, ["limits", "merge keys"]),
        ("a: &a [*a]\n", 1, ["too large or too deep"]),
        ("a: \x01\n", 1, ["no YAML"]),
        ("[" * 60_000, 1, ["no YAML", "brackets"]),
        ("a: " + "- " * 30_000, 1, []),
        ("instructions: " + "x" * 70_000, 1, ["longer than 64 KiB"]),
    ],
)
def test_a_broken_file_gives_line_and_reason_and_the_defaults_hold(text: str, line: int, words: list[str]) -> None:
    loaded = load(text)
    assert loaded.config == RepositoryConfig()
    problem = loaded.problems[0]
    assert problem.line == line
    for word in words:
        assert word in str(problem)


def test_all_wrong_settings_are_told_at_once_in_their_order() -> None:
    problems = load("test_guard: x\nlimits:\n  files: 0\nlabel: ''\n").problems
    assert [problem.line for problem in problems] == [1, 3, 4]


def test_an_alias_bomb_is_stopped() -> None:
    bomb = "a0: &a0 [x,x,x,x,x,x,x,x,x,x]\n"
    for level in range(1, 12):
        bomb += f"a{level}: &a{level} [{','.join([f'*a{level - 1}'] * 10)}]\n"
    assert "too large" in str(load(bomb).problems[0])


def test_aliases_in_moderation_are_fine() -> None:
    loaded = load("protected_paths: &p ['a/**']\nchecks:\n  ignore: *p\n")
    assert loaded.problems == ()
    assert loaded.config.checks.ignore == ["a/**"]


@pytest.mark.parametrize(
    ("content", "where"),
    [
        (b"label: x\nmodel: \xff\xfe\n", "line 2, column 8: the file is no UTF-8 text"),
        ("réglages: oui\n".encode("latin-1"), "line 1, column 2: the file is no UTF-8 text"),
        ("label: x\n".encode("utf-16"), "line 1, column 1: the file is no UTF-8 text"),
        (b"label: x\nmodel: a\x00b\n", "line 2, column 9: this is no YAML: the character 0x0000 is not allowed"),
    ],
)
def test_bytes_that_are_no_text_are_a_problem_with_its_place(content: bytes, where: str) -> None:
    assert [str(problem) for problem in load(content).problems] == [where]


def test_a_file_of_a_windows_editor_is_read() -> None:
    loaded = load(b"\xef\xbb\xbflimits:\r\n  attempts: 2\r\n")
    assert (loaded.problems, loaded.config.limits.attempts) == ((), 2)


def test_the_published_schema_is_current() -> None:
    published = Path(github.__file__).with_name("greenloop.schema.json").read_text()
    assert published == schema(), "run: python -m github.repositories.config > github/greenloop.schema.json"


def test_the_schema_and_the_reader_agree() -> None:
    validator = jsonschema_rs.validator_for(json.loads(schema()))
    assert validator.is_valid(yaml.safe_load(EVERYTHING))
    for text in ("limts: {}", "limits: {attempts: 51}", "test_guard: loud", "checks: {ignore: x}"):
        assert load(text).problems
        assert not validator.is_valid(yaml.safe_load(text))


def test_one_command_to_verify_by_may_stand_by_itself() -> None:
    assert load("verify: npm test\nsetup: [npm ci, npm run build]\n").config.verify == ["npm test"]
    assert load("setup: [npm ci, npm run build]\n").config.setup == ["npm ci", "npm run build"]
    assert load("verify:\n  - ''\n").problems and load("verify: {run: npm test}\n").problems
