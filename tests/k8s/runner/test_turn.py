"""A turn from beginning to end, with real processes, real HTTP and real git."""

from k8s.runner import protocol
from tests.k8s.runner.conftest import Box


def test_a_turn_runs_in_the_checkout_and_reports_what_it_changed(started: Box) -> None:
    sha = started.commit({"a.txt": "one\n", "dir/b.txt": "two\n"})
    told = started.give('cat; pwd; echo three >> a.txt; echo "exit soon" >&2; exit 3', sha)
    result = started.service.result(told)
    assert result.reason == protocol.EXITED
    assert result.exit_code == 3
    assert told.output.decode() == f"the prompt{started.checkout}\n"
    assert result.stderr_tail == "exit soon\n"
    assert [change.path for change in result.changes] == ["a.txt"]
    assert started.service.told["t_1"].objects[result.changes[0].sha or ""] == b"one\nthree\n"
    assert "+three" in result.diff
    assert result.base == sha
