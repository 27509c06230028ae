"""The shapes that the service and a runner exchange."""

import json

import pytest

from k8s.runner import protocol

TURN = {
    "turn": "t_1",
    "marker": "gl-abc_1",
    "repository": {
        "id": 7,
        "full_name": "o/r",
        "sha": "a" * 40,
        "ref": "refs/heads/x",
        "branch": "greenloop/x",
        "fetch": True,
        "depth": 50,
        "merge": {"ref": "refs/heads/main", "sha": "b" * 40},
    },
    "workdir": "Code/o/r/greenloop/x",
    "argv": ["agent", "--in", "{workdir}"],
    "env": {"K": "V"},
    "stdin": "do it",
    "files": [{"path": ".codex/auth.json", "mode": 384, "content": "e30=", "read_back": True, "keep": False}],
    "evidence": [{"path": "evidence/job.log", "url": "/turns/t_1/evidence/job.log"}],
    "limits": {"seconds": 60, "output_bytes": 10},
    "something_newer": 1,
}


def test_a_turn_is_read_with_its_nested_parts_and_what_is_unknown_is_ignored() -> None:
    turn = protocol.turn_from_json(TURN)
    assert turn.repository is not None
    assert turn.repository.merge == protocol.Merge(ref="refs/heads/main", sha="b" * 40)
    assert turn.files == [protocol.TurnFile(path=".codex/auth.json", content="e30=", mode=0o600, read_back=True)]
    assert turn.limits == protocol.TurnLimits(seconds=60, output_bytes=10)


def test_a_turn_goes_through_json_and_back_unchanged() -> None:
    turn = protocol.turn_from_json(TURN)
    assert protocol.turn_from_json(json.loads(json.dumps(protocol.to_json(turn)))) == turn


def test_a_result_goes_through_json_and_back_unchanged_deletions_included() -> None:
    result = protocol.Result(
        reason=protocol.EXITED,
        exit_code=0,
        changes=[protocol.Change(path="gone", mode="100644", sha=None), protocol.Change("ä b", "120000", "c" * 40, 3)],
        files=[protocol.FileBack(path="x", content="eA==")],
        usage=protocol.Usage(cpu_seconds=1.5, max_rss=10),
    )
    assert protocol.result_from_json(json.loads(json.dumps(protocol.to_json(result)))) == result


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"marker": "no spaces"}, "marker 'no spaces'"),
        ({"conversation": ["/etc/*"]}, "conversation holds '/etc/*'"),
        ({"conversation": [".gemini/../../x"]}, "not below the home"),
        ({"conversation": [7]}, "turn.conversation is [7]"),
        ({"turn": "../up"}, "turn id '../up'"),
        ({"argv": []}, "argv is empty"),
        ({"argv": "sh"}, "turn.argv is 'sh', not list[str]"),
        ({"env": {"K": 1}}, "turn.env is {'K': 1}"),
        ({"workdir": None}, "workdir"),
        ({"files": {}}, "files is dict, not a list"),
        ({"files": [3]}, "files[0] is int, not an object"),
        ({"repository": {"id": "seven"}}, "repository.id is 'seven', not int"),
    ],
)
def test_a_turn_that_breaks_the_protocol_is_refused_by_the_name_of_the_field(
    change: dict[str, object], said: str
) -> None:
    with pytest.raises(protocol.ProtocolError) as refused:
        protocol.turn_from_json({**TURN, **change})
    assert said in str(refused.value)


def test_secrets_of_a_turn_do_not_show_in_its_repr() -> None:
    shown = repr(protocol.turn_from_json({**TURN, "env": {"KEY": "sk-secret"}, "stdin": "private"}))
    assert "sk-secret" not in shown
    assert "private" not in shown
    assert "ghs_" not in repr(protocol.FetchToken(url="u", token="ghs_1"))


def test_output_with_a_negative_offset_is_refused() -> None:
    with pytest.raises(protocol.ProtocolError, match="less than 0"):
        protocol.output_from_json({"offset": -1})


def test_data_that_is_no_base64_is_refused_by_name() -> None:
    assert protocol.decode(protocol.encode(b"\x00a"), "x") == b"\x00a"
    with pytest.raises(protocol.ProtocolError, match=r"output\.data is not base64"):
        protocol.decode("%%", "output.data")
