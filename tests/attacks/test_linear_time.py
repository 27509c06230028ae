"""Text that others write takes time in proportion to its length, whatever it holds."""

import gc
import json
import re
from collections.abc import Callable, Iterator

import pytest

from app.web.pages import shown_diff
from app.web.pages.entries import blocks
from app.web.pages.render import html
from github.client.defuse import defused
from github.webhooks.mentions import read
from k8s.runner.protocol import Change
from loops.checks.shown_evidence import RedCheck
from loops.comments.public_text import public_text
from loops.comments.status_comment import StatusComment, TurnLine, render
from loops.evidence.distill import distill
from loops.guards import conflicts, keyfiles, patch, places, secrets
from loops.guards.globs import matches
from loops.guards.testguard import look
from loops.guards.weakening.whole import Whole
from loops.protocol.parse_output import parse_output, parser_of
from loops.runtimes.registry import get, names
from loops.secrets.redact import Redactor
from loops.store.tables import Event
from tests.attacks.growth import FAMILIES, MORE_THAN_LINEAR, against_ordinary, dearer, pieces

GIVEN = ["correct-horse-battery", "aaaaaaaa", "two words\nof it", "eyJeyJeyJ"]
ADDRESSES = ("https://github.example", "https://greenloop.example")
REDACTOR = Redactor(GIVEN)
SHA = "1" * 40


@pytest.fixture(autouse=True)
def no_garbage_collector() -> Iterator[None]:
    """What it takes depends on all else that is in memory."""
    gc.disable()
    yield
    gc.enable()


def streamed(text: str) -> None:
    stream = REDACTOR.stream()
    for at in range(0, len(text), 16_384):
        stream.feed(text[at : at + 16_384])
    stream.flush()


def guarded(path: str) -> Callable[[str], object]:
    return lambda text: secrets.hits(path, text.encode("utf-8", "replace"), REDACTOR)


def compared(text: str) -> None:
    lines = text.split("\n")
    body = "".join(f"-{line}\n+{line} \n" for line in lines)
    head = "diff --git a/test_a.py b/test_a.py\n--- a/test_a.py\n+++ b/test_a.py\n"
    whole = f"{head}@@ -1,{len(lines)} +1,{len(lines)} @@\n{body}"
    look([Change("test_a.py", "100644", SHA)], patch.read(whole))
    look([Change("test_a.py", "100644", SHA)], patch.read(text))


def whole_files(text: str) -> None:
    for path in ("test_a.py", "a.test.js", "src/a.rs", "pyproject.toml", "pom.xml", "scripts/check.sh"):
        look([Change(path, "100644", SHA)], (), [Whole(path, f"pytest -q\n{text}", f"pytest -q\n{text}\n{text[:99]}")])


def files(text: str) -> None:
    content = text.encode("utf-8", "replace")
    for path in (".npmrc", "config.json", "kubeconfig", "credentials.json", ".pypirc"):
        keyfiles.by_content(path, content)
    conflicts.left("a.py", content)


def named(text: str) -> None:
    for glob in ("**/a/**/b/**", "*a*a*a*b", "src/**/*.py"):
        matches(text, glob)
    places.path_trick(text)
    places.link_out("a/b", text.encode("utf-8", "replace"))
    keyfiles.env_like(text)
    secrets.for_tests(text)


def printed(text: str) -> None:
    parse_output(get("codex"), {}, text.encode("utf-8", "replace"), REDACTOR, end=True)
    line = json.dumps({"type": "item.completed", "item": {"type": "agent_message", "text": text}})
    parse_output(get("codex"), {}, line.encode(), REDACTOR, end=False)


def understood(runtime: str) -> Callable[[str], object]:
    def work(text: str) -> None:
        parser = parser_of(get(runtime), {})
        for line in text.splitlines():
            parser.parse(line)
        parser.parse(
            json.dumps({"type": "assistant", "message": {"content": [{"type": "text", "text": text}]}, "text": text})
        )

    return work


def distilled(text: str) -> None:
    distill([text.encode("utf-8", "replace")], redact=REDACTOR.text)


def entered(raw: str) -> None:
    text = raw.encode("utf-8", "replace").decode()  # as it is stored
    said = [("assistant_delta", {"text": text}), ("tool_completed", {"output": text, "name": text}), ("news", [text])]
    events = [Event(seq=seq, kind=kind, at=0.0, payload=payload) for seq, (kind, payload) in enumerate(said)]
    for block in blocks(events):
        html("_block.html", block=block)


def commented(text: str) -> None:
    for status, outcome in (("completed", "answered"), ("failed", None), ("waiting", None)):
        render(
            StatusComment(
                handle="greenloop",
                status=status,
                outcome=outcome,
                reason=f"internal: {text}",
                url=ADDRESSES[1],
                repository_url=ADDRESSES[0],
                turns=(TurnLine(1, text, text),),
                attempt=1,
                cap=3,
                failing=(text,),
                evidence=(RedCheck(text, "failure", "", text),),
                excused=(text,),
                explanation=text,
                answer=text,
                notes=(text,),
            )
        )


WORK: dict[str, Callable[[str], object]] = {
    "the redactor, piece by piece": streamed,
    "the guard of secrets": guarded("a.py"),
    "the guard of secrets, in settings": guarded("a.yaml"),
    "the guard of tests": compared,
    "the guard of files": files,
    "the guard of names": named,
    "the page's diff": shown_diff.rendered,
    "the page's entries": entered,
    "the comment on a session": commented,
    "what is said in public": lambda text: public_text(text, ADDRESSES),
    "what goes to GitHub": defused,
    "an agent's output": printed,
    **{f"lines of {name}": understood(name) for name in names()},
}


def test_a_square_shows_and_what_is_linear_does_not() -> None:
    token = re.compile(r"eyJ[A-Za-z0-9_-]+\.eyJ[A-Za-z0-9_-]+")
    assert dearer(token.search, "eyJ", (2_000, 20_000)) > MORE_THAN_LINEAR
    assert dearer(re.compile(r"eyJ[A-Za-z0-9_-]{,40}\.").search, "eyJ", (2_000, 20_000)) <= MORE_THAN_LINEAR


def test_secrets_are_looked_for_in_linear_time() -> None:
    for family, piece in pieces():
        assert dearer(REDACTOR.text, piece) <= MORE_THAN_LINEAR, family


@pytest.mark.parametrize("name", WORK)
def test_what_others_write_is_read_in_linear_time(name: str) -> None:
    for family, piece in FAMILIES.items():
        assert dearer(WORK[name], piece) <= MORE_THAN_LINEAR, family


@pytest.mark.parametrize(
    "piece", ["`", "`a", "``` ", "> ", "\\", "fix ", "fix-.-.", "@", "![", "http://a@", "`" * 9 + " "]
)
def test_text_for_github_is_defused_in_linear_time(piece: str) -> None:
    assert dearer(defused, piece, (2_000, 20_000, 200_000)) <= MORE_THAN_LINEAR


@pytest.mark.parametrize("family", ["comments", "tests", "added and removed", "definitions"])
def test_files_are_compared_as_a_whole_in_linear_time(family: str) -> None:
    assert dearer(whole_files, FAMILIES[family], (2_000, 20_000)) <= MORE_THAN_LINEAR


def test_logs_are_distilled_in_linear_time() -> None:
    for family, piece in FAMILIES.items():
        assert dearer(distilled, piece) <= MORE_THAN_LINEAR, family


def test_no_log_is_far_dearer_than_an_ordinary_one() -> None:
    for family, piece in FAMILIES.items():
        assert against_ordinary(distilled, piece) < 50, family


def test_mentions_are_read_in_linear_time() -> None:
    def work(text: str) -> None:
        read(f"@greenloop {text}", ["greenloop"])
        read(f"{text} @greenloop", ["greenloop"])
        read(f"{text}\n\n@greenloop {text}", ["greenloop"])

    for family, piece in FAMILIES.items():
        assert dearer(work, piece, (2_000, 20_000, 200_000)) <= MORE_THAN_LINEAR, family
