"""How a runner starts, goes on and ends."""

import contextlib
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from k8s.runner import protocol
from k8s.runner.main import read_options
from k8s.runner.service import link
from k8s.runner.service.link import Gone, Link, RefusedByService, Rejected, Unreachable
from tests.k8s.runner.conftest import RUNNER, Box
from tests.k8s.runner.double import BOX, Service

REQUIRED = {
    "GREENLOOP_SERVICE": "http://s", "GREENLOOP_BOX": "b", "GREENLOOP_HOME": "/h", "GREENLOOP_BOX_TOKEN_FILE": "/t",
}  # fmt: skip


def test_options_come_from_the_command_line_or_else_from_the_environment() -> None:
    options = read_options(["--box", "other", "--orphan-seconds", "5"], REQUIRED)
    assert (options.service, options.box, options.home, options.token_file) == (
        "http://s", "other", Path("/h"), Path("/t"),
    )  # fmt: skip
    assert (options.walls.kind, options.orphan_seconds) == ("processes", 5.0)


@pytest.mark.parametrize("missing", sorted(REQUIRED))
def test_a_missing_option_is_misuse_and_named(missing: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as left:
        read_options([], {name: value for name, value in REQUIRED.items() if name != missing})
    assert left.value.code == 2
    assert "--" in capsys.readouterr().err.splitlines()[-1]


def test_a_plain_copy_of_the_folder_runs_with_any_interpreter_that_knows_nothing_of_us(
    box: Box, tmp_path: Path
) -> None:
    shutil.copytree(RUNNER, tmp_path / "image" / "runner")
    command = [sys.executable, "-I", "-S", str(tmp_path / "image" / "runner"), *box.command()[2:]]
    box.process = subprocess.Popen(command, cwd="/", env={"PATH": os.environ["PATH"]})
    assert box.service.result(box.give("exit 3", None)).exit_code == 3


def test_it_runs_as_a_module_too(box: Box) -> None:
    command = [sys.executable, "-m", "k8s.runner", *box.command()[2:]]
    box.process = subprocess.Popen(command, cwd=RUNNER.parent.parent)
    assert box.service.result(box.give("exit 3", None)).exit_code == 3


def test_a_second_runner_of_the_same_home_gives_up_and_names_the_first(started: Box) -> None:
    started.service.result(started.give("true", None))
    assert started.process
    second = subprocess.run(started.command(), capture_output=True, text=True, timeout=60, check=False)
    assert second.returncode == 4
    assert f"pid {started.process.pid}" in second.stderr


def test_a_turn_that_breaks_the_protocol_does_not_bring_the_runner_down(started: Box) -> None:
    broken = started.give("true", None)
    broken.turn["argv"] = []
    started.service.wait(lambda: len(broken.handed_out) > 1)
    broken.gone = True
    assert started.service.result(started.give("exit 3", None)).exit_code == 3


def test_a_full_disk_is_said_in_words_and_the_next_turn_can_clean_up(box: Box) -> None:
    box.home.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=6m", "tmpfs", str(box.home)]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode != 0:
        pytest.skip("this test needs the right to mount a small file system")
    try:
        box.start()
        sha = box.commit({"a": "1"})
        for script in ("head -c 20000000 /dev/zero > ~/junk", "yes | head -c 20000000; rm -f ~/junk"):
            result = box.service.result(box.give(script, sha))
            assert result.reason == protocol.DISK_FULL
            assert "of 6 MB" in result.message
        assert box.service.result(box.give("echo fine", sha)).reason == protocol.EXITED
        assert box.process
        box.process.terminate()
        box.process.wait(60)
    finally:
        subprocess.run(["umount", "-l", box.home], check=True)


@pytest.fixture
def line(service: Service, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Link]:
    monkeypatch.setattr(link, "FIRST_PAUSE", 0.02)
    (tmp_path / "token").write_text("wrong")
    made = Link(service.url, tmp_path / "token")
    yield made
    made.close()


def test_a_token_that_was_changed_is_read_anew(line: Link, service: Service, box: Box) -> None:
    service.give(box.turn("", None))
    asks: dict[str, dict[str, list[str]]] = {"runner": {"turns": []}}
    box.token_file.write_text("wrong")
    assert line.once("POST", f"/boxes/{BOX}/next", asks)[0] == 401
    box.token_file.write_text("box-token-for-tests\n")
    assert line.once("POST", f"/boxes/{BOX}/next", asks)[0] == 200


def test_what_is_told_of_a_turn_takes_the_token_that_came_with_it(service: Service, box: Box) -> None:
    told = service.give(box.turn("", None))
    statuses = []
    for token in ("", "token-of-another", told.token):
        with contextlib.closing(Link(service.url, box.token_file, token)) as line:
            said = line.once("POST", "/turns/t_1/output", protocol.to_json(protocol.Output(0)))
            statuses.append(said[0])
    assert statuses == [401, 401, 200]


def test_a_token_that_stays_refused_ends_in_giving_up(line: Link, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "REFUSED_SECONDS", 0.1)
    with pytest.raises(RefusedByService):
        line.output("t_1", protocol.Output(0))


def test_a_runner_whose_token_is_refused_exits_3(box: Box, tmp_path: Path) -> None:
    box.token_file.write_text("wrong")
    shutil.copytree(RUNNER, tmp_path / "runner")
    module = tmp_path / "runner" / "service" / "link.py"
    source = module.read_text()
    module.write_text(source.replace("REFUSED_SECONDS = 300.0", "REFUSED_SECONDS = 0.3"))
    command = [sys.executable, str(tmp_path / "runner"), *box.command()[2:]]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.returncode == 3
    assert "refused the token" in ended.stderr


def test_answers_are_told_apart(service: Service, box: Box, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(link, "FIRST_PAUSE", 0.02)
    line = Link(service.url, box.token_file)
    with pytest.raises(Gone, match="no such turn"):
        line.call("PUT", "/turns/t_9/result", {})
    told = service.give(box.turn("", None))
    line.close()
    line = Link(service.url, box.token_file, told.token)
    with pytest.raises(Rejected, match="that is "):
        line.call("PUT", f"/turns/t_1/objects/{'0' * 40}", b"content")
    told.gone = True
    with pytest.raises(Gone, match="is over"):
        line.call("PUT", "/turns/t_1/result", {})
    service.down = True
    with pytest.raises(Unreachable, match="503 restarting"):
        line.call("PUT", "/turns/t_1/result", {}, patience=0)
    service.stop()
    with pytest.raises(Unreachable):
        line.call("PUT", "/turns/t_1/result", {}, patience=0)
    line.close()


def test_a_service_behind_a_path_is_reached(service: Service, tmp_path: Path) -> None:
    (tmp_path / "token").write_text("x")
    line = Link(f"{service.url}/green/loop/", tmp_path / "token")
    assert line.once("POST", f"/boxes/{BOX}/next", {})[0] == 401
    line.close()
    assert service.git_paths == [f"/green/loop/boxes/{BOX}/next"]
    with pytest.raises(ValueError, match="not http"):
        Link("ftp://s", tmp_path / "token")


def test_the_log_holds_no_secret_and_one_line_per_step(started: Box) -> None:
    sha = started.commit({"a": "1"})
    told = started.give("true", sha, env={"KEY": "sk-secret"}, stdin="private prompt")
    started.service.result(told)
    started.idle(told)
    started.service.wait(lambda: "ended: exited" in started.log.read_text())
    log = started.log.read_text()
    steps = [line.split(" ", 3)[-1] for line in log.splitlines()][1:]
    assert steps == ["turn=t_1 begins", "turn=t_1 ended: exited, exit code 0, 0 changes"]
    for secret in ("sk-secret", "private prompt", "box-token", *told.tokens):
        assert secret not in log
