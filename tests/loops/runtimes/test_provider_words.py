"""What providers, servers and proxies answer that no recording here has: each in its own words, through each agent."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from loops.runtimes import registry
from loops.runtimes.base import ProcessEnd
from loops.runtimes.classify import LONGEST, classify
from loops.runtimes.failures import FailureKind, Told
from tests.loops.runtimes.replay import replay
from tests.loops.runtimes.test_failures import STREAMS, Stream

K = FailureKind
TABLE = Path(__file__).with_name("provider_words.tsv")
ROWS = [line.split("\t") for line in TABLE.read_text(encoding="utf-8").splitlines()[1:]]
CASES = [(provider, getattr(K, kind), int(status), code, said) for provider, kind, status, code, said in ROWS if status]
# told in words alone: on stderr, or by a CLI in a sentence of its own
SAID = [(getattr(K, kind), said.replace("\\n", "\n")) for _, kind, status, _, said in ROWS if not status]
AGENTS = tuple(STREAMS)


def ends_as(agent: str, lines: list[dict[str, Any]], exit_code: int, stderr: str = "") -> FailureKind | None:
    _, outcome = replay(agent, [json.dumps(line) for line in lines], ProcessEnd(exit_code, stderr_tail=stderr))
    assert outcome.error
    return outcome.failure.kind if outcome.failure else None


@pytest.mark.parametrize(("provider", "kind", "status", "code", "said"), CASES)
def test_a_refusal_in_its_providers_words_is_understood_through_every_agent(
    provider: str, kind: FailureKind, status: int, code: str, said: str
) -> None:
    told = {agent: ends_as(agent, *stream(status, code, said)) for agent, stream in STREAMS.items()}
    assert told == dict.fromkeys(STREAMS, kind), provider


@pytest.mark.parametrize(("kind", "said"), SAID)
@pytest.mark.parametrize("agent", AGENTS)
def test_a_failure_that_is_told_in_words_alone_is_understood(agent: str, kind: FailureKind, said: str) -> None:
    assert ends_as(agent, [], 1, f"some log line\n{said}\n" if "\n" not in said else said) is kind
    assert classify((), Told(said, exit_code=1)).kind is kind


def changed(said: str) -> Iterator[str]:
    """The same in other clothes."""
    yield "\x1b[31m" + "\x1b[1m ".join(said.split(" ")) + "\x1b[0m"
    yield said.replace(" ", "\n", 3)
    yield said.upper()
    yield "x" * 3 * LONGEST + "\n" + said
    yield json.dumps({"error": {"message": json.dumps({"error": {"message": said}})}})
    yield f"Error {{attempt: 1}}: {json.dumps([{'error': {'message': said}}])}"


@pytest.mark.parametrize(("kind", "said"), [each for each in SAID if each[0] is not K.BUG and "<" not in each[1]])
def test_colours_broken_lines_wrapping_and_size_make_no_difference(kind: FailureKind, said: str) -> None:
    assert [classify((), Told(each, exit_code=1)).kind for each in changed(said)] == [kind] * 6


@pytest.mark.parametrize("agent", AGENTS)
def test_what_a_stream_does_not_tell_its_stderr_may(agent: str) -> None:
    stream: Stream = STREAMS[agent]
    lines, exit_code = stream(None, "", "Something went wrong.")
    assert ends_as(agent, lines, exit_code, "Error: getaddrinfo ENOTFOUND api.example.com\n") is K.NETWORK
    assert ends_as(agent, lines, exit_code, "some log line\n") is K.BUG


@pytest.mark.parametrize("agent", AGENTS)
def test_an_error_of_megabytes_is_kept_in_part(agent: str) -> None:
    stream: Stream = STREAMS[agent]
    lines, _ = stream(None, "", "word " * 500_000 + "Too many requests")
    parser = registry.get(agent).parser()
    for line in lines:
        parser.parse(json.dumps(line))
    assert len(json.dumps(parser.state())) < 3 * LONGEST
    outcome = parser.outcome(ProcessEnd(1))
    assert outcome.failure is not None and outcome.failure.kind is K.RATE_LIMIT
