"""A turn from beginning to end, with real processes, real HTTP and real git."""

import base64
import json
import os
import re
import subprocess
from pathlib import Path

from k8s.runner import protocol
from tests.k8s.runner.conftest import Box, alive, remains
from tests.walking import files


def encoded(content: bytes) -> str:
    return base64.b64encode(content).decode()


def test_a_turn_runs_in_the_checkout_and_reports_what_it_changed(started: Box) -> None:
    sha = started.commit({"a.txt": "one\n", "dir/b.txt": "two\n"})
    told = started.give('cat; pwd; echo three >> a.txt; echo "exit soon" >&2; exit 3', sha)
    result = started.service.result(told)
    assert result.reason == protocol.EXITED
    assert result.exit_code == 3
    assert told.output.decode() == f"the prompt{started.checkout}\n"
    assert result.stderr_tail == "exit soon\n"
    assert [change.path for change in result.changes] == ["a.txt"]
    assert told.objects == {result.changes[0].sha: b"one\nthree\n"}
    assert "+three" in result.diff
    assert result.base == sha
    assert told.states[0] == protocol.FETCHING
    started.idle(told)
    assert told.results == 1


def test_the_agent_finds_a_repository_with_history_and_its_branch(started: Box) -> None:
    started.commit({"a": "1"}, "first")
    sha = started.commit({"a": "2"}, "second")
    told = started.give(
        "git status --porcelain=v2 --branch; git log --format=%s; git commit -q --allow-empty -m x", sha
    )
    result = started.service.result(told)
    lines = told.output.decode().splitlines()
    assert lines == [f"# branch.oid {sha}", "# branch.head greenloop/issue-1", "second", "first"]
    assert result.exit_code == 0, result.stderr_tail


def test_the_environment_is_the_turns_own_and_nothing_of_the_runner(box: Box) -> None:
    given = {
        "SECRET_OF_THE_HOST": "x",
        "GREENLOOP_BOX_TOKEN_FILE": "/t",
        "HTTPS_PROXY": "http://proxy",
        "REGISTRY": "r",
    }
    box.start(env={**given, "GREENLOOP_AGENT_ENV": "REGISTRY,NOT_THERE"})
    told = box.give("env", None, env={"MODEL_KEY": "k", "WHERE": "{workdir}:{home}:{turn_dir}:{other}"})
    box.service.result(told)
    env = dict(line.split("=", 1) for line in told.output.decode().splitlines())
    for name in ("SHLVL", "_", "LC_CTYPE", "OLDPWD"):
        env.pop(name, None)
    assert env.pop("WHERE") == f"{box.checkout}:{box.agent_home}:{box.agent_home}/.greenloop/turn:{{other}}"
    assert env.pop("PATH")
    assert env == {
        "HOME": str(box.agent_home), "PWD": str(box.checkout), "LANG": "C.UTF-8", "TERM": "dumb", "USER": "greenloop",
        "LOGNAME": "greenloop", "SHELL": "/bin/sh", "GREENLOOP_MARKER": told.turn["marker"], "MODEL_KEY": "k",
        "HTTPS_PROXY": "http://proxy", "REGISTRY": "r",
    }  # fmt: skip


def test_a_prompt_reaches_the_agent_as_it_is_but_for_the_place_that_only_its_marker_names(started: Box) -> None:
    said = "{home} {workdir} {turn_dir} {turn_dir:gl-other}"
    told = started.give(
        "", None, argv=["bash", "-c", 'echo "$1"; cat', "x", "{turn_dir}"], marker="gl-mine",
        stdin=f"{said} see {{turn_dir:gl-mine}}/log",
    )  # fmt: skip
    started.service.result(told)
    files = f"{started.agent_home}/.greenloop/turn"
    assert told.output.decode() == f"{files}\n{said} see {files}/log"


def test_files_are_there_for_the_turn_only_and_changed_ones_come_back(started: Box) -> None:
    given = [
        {"path": ".codex/auth.json", "content": encoded(b"old"), "read_back": True},
        {"path": ".same", "content": encoded(b"same"), "read_back": True},
        {"path": "{turn_dir}/last.txt", "content": "", "read_back": True},
        {"path": "tool.sh", "content": encoded(b"#!/bin/sh\necho tool\n"), "mode": 0o700},
    ]
    script = "cd; stat -c %a .codex .codex/auth.json; ./tool.sh; echo new > .codex/auth.json"
    script += "; echo last > {turn_dir}/last.txt"
    told = started.give(script, None, files=given)
    result = started.service.result(told)
    assert told.output.decode() == "700\n600\ntool\n", result.stderr_tail
    back = {file.path: base64.b64decode(file.content) for file in result.files}
    assert back == {".codex/auth.json": b"new\n", "{turn_dir}/last.txt": b"last\n"}
    started.idle(told)
    assert [path.relative_to(started.home) for path in files(started.home)] == [Path("runner/lock")]


def test_a_link_that_was_left_in_a_home_leads_no_credential_out_of_the_next(started: Box, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "target").write_text("mine")
    started.service.result(started.give(f"ln -s {outside}/target ~/cred; ln -s {outside} ~/folder", None))
    files = [{"path": path, "content": encoded(b"secret"), "read_back": True} for path in ("cred", "folder/cred")]
    assert started.service.result(started.give("cat ~/cred ~/folder/cred", None, files=files)).exit_code == 0
    assert (outside / "target").read_text() == "mine"
    assert list(outside.iterdir()) == [outside / "target"]


def test_no_link_leads_the_runner_to_what_only_it_may_read(started: Box, tmp_path: Path) -> None:
    (tmp_path / "token").read_text()
    (tmp_path / "private").mkdir()
    (tmp_path / "private/a").write_text("private")
    sha = started.commit({"a": "1", "d/a": "2"})
    files = [{"path": path, "content": "", "read_back": True} for path in ("cred", "folder/token")]
    script = f"rm ~/cred; ln -s {tmp_path}/token ~/cred; rm -r ~/folder; ln -s {tmp_path} ~/folder"
    script += f"; rm -r d; ln -s {tmp_path}/private d; mv ~ ~/../moved; ln -s ~/../moved ~"
    result = started.service.result(started.give(script, sha, files=files))
    assert result.files == []
    assert [(change.path, change.sha) for change in result.changes if change.sha] == []
    assert b"private" not in b"".join(started.service.told["t_1"].objects.values())


OUTSIDE: list[dict[str, object]] = [
    {"workdir": "../elsewhere"},
    {"workdir": ".greenloop/turn"},
    {"workdir": "."},
    {"files": [{"path": "/etc/passwd2", "content": ""}]},
    {"files": [{"path": "x", "content": "%%%"}]},
    {"evidence": [{"path": "../turn.json", "url": "/turns/t_1/evidence/log"}]},
]


def test_places_outside_the_home_are_refused(started: Box) -> None:
    for about in OUTSIDE:
        told = started.service.give({**started.turn("echo ran", None), **about}, {"log": b"x"})
        result = started.service.result(told)
        assert result.reason == protocol.START_FAILED, about
        assert result.message, about
        assert not told.output, about


def test_evidence_is_fetched_outside_the_checkout_and_may_be_large(started: Box) -> None:
    sha = started.commit({"a": "1"})
    log = os.urandom(3_000_000)
    turn = started.turn("sha1sum < {turn_dir}/logs/job.log; git status --short", sha)
    turn["evidence"] = [{"path": "logs/job.log", "url": "/turns/t_1/evidence/job.log"}]
    told = started.service.give(turn, {"job.log": log})
    result = started.service.result(told)
    sums = subprocess.run(["sha1sum"], input=log, capture_output=True, check=True).stdout.decode()
    assert told.output.decode() == sums, result.stderr_tail
    assert result.changes == []


def test_a_missing_agent_is_a_clear_result(started: Box) -> None:
    sha = started.commit({"a": "1"})
    result = started.service.result(started.give("", sha, argv=["no-such-agent"]))
    assert result.reason == protocol.START_FAILED
    assert "'no-such-agent' is not in this box" in result.message
    assert result.exit_code is None


def test_an_agent_that_hangs_is_a_timeout_with_its_output_and_changes(started: Box) -> None:
    sha = started.commit({"a": "1"})
    told = started.give("echo working; echo 2 > a; exec sleep 1000", sha, limits={"seconds": 2.5})
    result = started.service.result(told)
    assert result.reason == protocol.TIMEOUT
    assert "2.5 seconds" in result.message
    assert told.output == b"working\n"
    assert [change.path for change in result.changes] == ["a"]
    assert not remains(told.turn["marker"])


def test_cancel_ends_the_agent_and_all_it_started(started: Box) -> None:
    told = started.give("env -i setsid nohup sleep 1000 >/dev/null 2>&1 & echo $!; trap '' INT TERM; sleep 1000", None)
    started.service.wait(lambda: told.output)
    told.cancel = "asked for by @ann"
    result = started.service.result(told)
    assert result.reason == protocol.CANCELLED
    assert "asked for by @ann" in result.message
    assert not alive(int(told.output))
    assert not remains(told.turn["marker"])


def test_a_turn_that_the_service_forgot_is_killed_and_cleaned_away(started: Box) -> None:
    files = [{"path": "cred", "content": encoded(b"secret")}]
    told = started.give("echo $$; sleep 1000", None, files=files)
    started.service.wait(lambda: told.output)
    told.gone = True
    started.idle(told)
    assert not alive(int(told.output))
    assert not (started.agent_home / "cred").exists()
    assert told.result is None
    following = started.give("echo next", None)
    assert started.service.result(following).exit_code == 0


def test_100_megabytes_of_output_are_capped_with_the_last_line_kept(started: Box) -> None:
    script = "yes 'some words that an agent prints, again and again' | head -c 100000000; echo; echo the end"
    told = started.give(script, None, limits={"output_bytes": 8_000_000})
    result = started.service.result(told, 40)
    assert result.exit_code == 0
    assert told.output.endswith(b"the end\n")
    assert len(told.output) <= 8_000_200
    said = re.findall(rb"\[greenloop: (\d+) bytes of output are left out here", bytes(told.output))
    assert len(said) == 1
    assert result.output_bytes == len(told.output)


def test_a_line_of_three_megabytes_and_a_last_line_without_an_end_arrive_whole(started: Box) -> None:
    program = "import sys; sys.stdout.write('x' * 3_000_000 + '\\n' + 'y' * 3_000_000)"
    told = started.give("", None, argv=["python3", "-c", program])
    started.service.result(told)
    assert told.output == b"x" * 3_000_000 + b"\n" + b"y" * 3_000_000


def test_a_prompt_of_two_megabytes_arrives_and_is_not_written_to_disk(started: Box) -> None:
    prompt = "needle-" + "p" * 2_000_000
    told = started.give(f"wc -c; grep -rl needle[-]p {started.home}/*/ | wc -l", None, stdin=prompt)
    started.service.result(told)
    assert told.output.decode().split() == [str(len(prompt)), "0"]


def test_turns_follow_one_another_in_the_same_runner(started: Box) -> None:
    for number in range(3):
        assert started.service.result(started.give(f"exit {number}", None)).exit_code == number


def test_what_is_on_disk_while_an_agent_runs_holds_no_secret(started: Box) -> None:
    sha = started.commit({"a": "1"})
    told = started.give("echo up; sleep 1000", sha, env={"KEY": "sk-very-secret"}, stdin="prompt-very-private")
    started.service.wait(lambda: told.output)
    needles = [b"sk-very-secret", b"prompt-very-private", told.tokens[0].encode()]
    for path in files(started.home):
        content = path.read_bytes()
        assert not [needle for needle in needles if needle in content], path
    state = json.loads((started.state(told) / "turn.json").read_text())
    assert state["env"] == {}
    told.cancel = "enough"
    started.service.result(told)
