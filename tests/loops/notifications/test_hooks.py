"""What the operator's file of hooks may say, and whom a state is told to."""

import json
from pathlib import Path
from typing import Any

import pytest

from loops.notifications.hooks import BadHooks, Hook, read_hooks
from loops.store.states import SessionStatus

SECRET = "whsec_" + "c2VjcmV0LXNlY3JldC1zZWNyZXQtc2VjcmV0"
BUILD: dict[str, Any] = {"name": "build", "url": "https://hooks.example/a?k=v", "secrets": [SECRET]}


def read(tmp_path: Path, hooks: Any) -> tuple[Hook, ...]:
    file = tmp_path / "hooks.json"
    file.write_text(hooks if isinstance(hooks, str) else json.dumps(hooks))
    return read_hooks(file)


def test_a_hook_is_told_the_states_and_repositories_that_it_names_and_without_names_all(tmp_path: Path) -> None:
    some = {**BUILD, "name": "some", "states": ["failed"], "repositories": ["Acme/*", "other/site"]}
    every, few = read(tmp_path, [BUILD, some])
    assert all(every.wants(status, "any/where") for status in SessionStatus)
    wanted = [(status, name) for status in SessionStatus for name in ("acme/a", "other/site", "other/b", "xacme/a")]
    assert [each for each in wanted if few.wants(*each)] == [("failed", "acme/a"), ("failed", "other/site")]


@pytest.mark.parametrize(
    ("hooks", "said"),
    [
        ("", "EOF"),
        ("{}", "Input should be a valid array"),
        ([{**BUILD, "secrets": []}], "0: Value error, `secrets` is for format `standard`"),
        ([{**BUILD, "format": "slack"}], "0: Value error, `secrets` is for format `standard`"),
        ([{**BUILD, "secrets": ["hunter2"]}], "0.secrets: Value error, a secret is `whsec_`"),
        ([{**BUILD, "secrets": ["whsec_c2hvcnQ="]}], "0.secrets: Value error, a secret is `whsec_`"),
        ([{**BUILD, "secrets": [SECRET + "ä"]}], "0.secrets: Value error, a secret is `whsec_`"),
        ([{**BUILD, "url": "ftp://secret.example/hunter2"}], "0.url: Value error, it must be http"),
        ([{**BUILD, "url": "https://secret:hunter2@example.com"}], "0.url: Value error, it must be http"),
        ([{**BUILD, "url": "https://[::1/hunter2"}], "0.url: Value error"),
        ([{**BUILD, "name": "Build 1"}], "0.name: String should match"),
        ([{**BUILD, "states": ["done"]}], "0.states.0"),
        ([{**BUILD, "repository": "a/b"}], "0.repository: Extra inputs"),
        ([BUILD, BUILD], "two hooks are named 'build'"),
    ],
)
def test_a_file_that_cannot_be_used_is_refused_with_the_place_and_without_a_secret(
    tmp_path: Path, hooks: Any, said: str
) -> None:
    with pytest.raises(BadHooks) as refused:
        read(tmp_path, hooks)
    text = str(refused.value)
    assert said in text and "hooks.json" in text
    assert "hunter2" not in text and SECRET not in text


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadHooks, match=r"nowhere\.json cannot be read: No such file"):
        read_hooks(tmp_path / "nowhere.json")
