"""How the cost of some work grows with the text it is given, in CPU time of this thread: a ratio, never a time."""

import time
from collections.abc import Callable, Iterator
from itertools import pairwise

from loops.secrets.catalogue import KINDS
from loops.secrets.kind import example

SIZES = (10_000, 100_000, 1_000_000)
MORE_THAN_LINEAR = 4.0
"""How much more a character of a text ten times as long may cost: a square would cost ten times as much."""
DOUBT = 1.5
"""How much more a character of 100 kB may cost for that to be enough: what hides a square below this shows less than
`MORE_THAN_LINEAR` of it at 1 MB as well."""
FLOOR = 20e-9
"""Seconds of CPU a character, below which the clock says more than the work does."""
USUAL = 0.005
"""Seconds of CPU that ordinary text may cost at least."""
ENOUGH = 0.003
"""Seconds of CPU from which a measurement says something."""
TRIES = 4
"""How often a doubt is looked at."""
CONFIRMED = 12
"""How often more than linear is looked at before it is said: a busy machine may slow down several in a row."""


def dearer(work: Callable[[str], object], piece: str, sizes: tuple[int, ...] = SIZES) -> float:
    """By how much the dearest character of the longer texts costs more than one of the shorter; texts are `piece` over
    and over. The longest is tried where the shorter ones leave a doubt, or were over too soon to tell."""
    worst = 1.0
    for shorter, longer in pairwise(sizes):
        grown, spent = _growth(work, piece, shorter, longer)
        worst = max(worst, grown)
        if worst > MORE_THAN_LINEAR or (worst <= DOUBT and spent > ENOUGH):
            break
    return worst


def _growth(work: Callable[[str], object], piece: str, shorter: int, longer: int) -> tuple[float, float]:
    """How many times as much a character of the longer text costs, and what that text costs. What looks dearer is tried
    again, both texts side by side, in case something else took the time: the least that each ever took counts."""
    fixed = little = much = grown = float("inf")
    for attempt in range(1, CONFIRMED + 1):
        # one piece only: a hundred characters may cost more than they would in a text that is too long for care
        fixed = min(fixed, _spent(work, piece))
        little = min(little, *(_spent(work, _text(piece, shorter)) for _ in range(2)))
        much = min(much, _spent(work, _text(piece, longer)))
        each = max((little - fixed) / shorter, FLOOR)
        grown = max(much - fixed, 0.0) / longer / each
        plain = much > 5 and grown > 2 * MORE_THAN_LINEAR
        if grown <= DOUBT or plain or (attempt >= TRIES and grown <= MORE_THAN_LINEAR):
            break
    return grown, much - fixed


def _text(piece: str, size: int) -> str:
    return (piece * (size // len(piece) + 1))[:size]


def against_ordinary(work: Callable[[str], object], piece: str, size: int = 10_000) -> float:
    """How many times as much a text of `piece` costs as one of ordinary lines does."""
    usual = max(min(_spent(work, _text(ORDINARY, size)) for _ in range(3)), USUAL)
    return min(_spent(work, _text(piece, size)) for _ in range(2)) / usual


def _spent(work: Callable[[str], object], text: str) -> float:
    started = time.thread_time()
    work(text)
    return time.thread_time() - started


def pieces() -> Iterator[tuple[str, str]]:
    """The known families, by name: what is repeated in them."""
    yield from FAMILIES.items()
    for number, kind in enumerate(KINDS):
        text = example(kind.samples[0])
        # the beginning of each kind over and over, and all of it but for its last characters
        yield f"{number} {kind.name}: beginnings", text[: max(4, len(text) // 8)]
        yield f"{number} {kind.name}: near-matches", text[: len(text) * 2 // 3] + " "


ORDINARY = "step 12: building package foo at /src/x.py line 33, with 4 warnings and no failure\n"

FAMILIES = {
    "one letter": "a",
    "digits": "0",
    "hex": "0123456789abcdef",
    "halves of a JWT": "eyJ",
    "a JWT that does not end": "eyJhbGciOiJI.",
    "prefix of a token": "ghp_",
    "dots": "a.",
    "dashes": "-",
    "heads of keys": "-----BEGIN PRIVATE KEY-----",
    "spaced heads of keys": "-----BEGIN PRIVATE KEY-----" + " " * 80,
    "heads of keys in lines": "-----BEGIN RSA PRIVATE KEY-----\n",
    "addresses": "a://a:",
    "addresses with a login": "https://user:pass",
    "at signs": "@",
    "mentions": "@greenloop ",
    "mentions in bold": "**@greenloop** ",
    "mentions in lines": "@greenloop stop\n",
    "options": "--runtime a ",
    "unknown options": "--nothing ",
    "open ticks": "`@greenloop ``",
    "names of secrets": "password secret key =\n",
    "assignments": "password=\"'",
    "quotes": "\"'`",
    "round brackets": "(",
    "square brackets": "[",
    "curly brackets": "{",
    "angle brackets": "<",
    "pairs of brackets": "[(<{",
    "nested links": "[a](",
    "images": "![",
    "definitions": "[a]: b\n",
    "quoting": "> ",
    "lists": "- a\n  ",
    "emphasis": "*a_",
    "strong emphasis": "**a",
    "fences": "```\n",
    "tables": "| a ",
    "rules": "---\n",
    "tags": "<a ",
    "comments": "<!--",
    "closed comments": "<!-- a -->",
    "quoting tags": "<pre><code>",
    "entities": "&#",
    "percent signs": "%4",
    "backslashes": "\\",
    "written escapes": "\\u001b[",
    "open operating system commands": "\\e]",
    "operating system commands": "\x1b]8;;",
    "colours": "\x1b[31ma\x1b[0m",
    "colours without their escape": "[31m",
    "numbers of a colour": "\x1b[1;1;1;",
    "alternating escapes": "\\n%3D\x1b[0m",
    "escapes": "\x1b",
    "blanks": " ",
    "tabs": "\t",
    "lines": "\n",
    "blank lines": "  \n",
    "carriage returns": "10%\r",
    "zeros": "\0",
    "wide letters": "ü€",
    "halves of characters": "\ud800",
    "mail quotes": "On 1:11 a\nb ",
    "underscores": "_" * 21,
    "errors": "error: a\n",
    "errors of compilers": "src/a.py:1: error: a\n",
    "errors on one line": "error: ",
    "traces": '  File "a.py", line 1, in b\n    c()\n',
    "traces of JavaScript": "    at a (b.js:1:1)\n",
    "failing tests": "FAILED tests/test_a.py::test_b - assert 1 == 2\n",
    "assertions": "assert x == 1 and not y in z\n",
    "tests": "def test_a():\n    assert f(1) == 2\n",
    "open calls": "it('",
    "headers of diffs": "diff --git a/test_a.py b/test_a.py\n",
    "headers of hunks": "@@ -1 +1 @@\n",
    "hunks": "diff --git a/a b/a\n--- a/a\n+++ b/a\n@@ -1,3 +1,3 @@\n a\n-b\n+c\n",
    "endless hunks": "@@ -1,999999999 +1,999999999 @@\n",
    "added and removed": "-a\n+a \n",
    "groups of a workflow": "##[group]Run a\n",
    "commands of a workflow": "##[error]a\n",
    "objects of JSON": '{"a":',
    "lists of JSON": "[[1],",
    "conflict marks": "<<<<<<< a\n=======\n>>>>>>> b\n",
    "base64": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2",
    "base64 in lines": "QUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVphYmNkZWZnaGlqa2xtbm9wcXJzdHV2\n",
    "gaps in base64": "QUJDREVGR0hJSktM=\n",
}
