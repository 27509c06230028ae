"""What is read from expressions for the prefilter."""

import pytest

from loops.evidence.recognise.derive import ASCII, derive


@pytest.mark.parametrize(
    ("pattern", "texts"),
    [
        ("fail(?:ed|s)?", {"fail"}),
        (r".*(?:No space left|ENOSPC).*", {"No space left", "ENOSPC"}),
        (r"(?:error: )?\S+: [Pp]ermission denied", {": permission denied", ": Permission denied"}),
        (r"\w+: (?:refused|.*)", {": "}),
        (r"(?:x?abc)+d", {"abc"}),
        (r"(?:abc)*\d", set()),
        (r"_{2,} E {3,}\S", {" E   "}),
        (r"\S+  \d", set()),
        ("[✕✗] \\S", {"✕ ", "✗ "}),
        (r"(?P<file>\S+\.rs):(?P<line>\d+)", {".rs"}),
        (r"\S+\.[jt]sx?\b", {".js", ".ts"}),
        ("(?!never)(?<=before)after", {"after"}),
        ("(?i)error|(?i:fail)", set()),
        ("(?i:fail)ed", {"ed"}),
    ],
)
def test_an_expression_needs_the_rarest_texts_that_it_cannot_match_without(pattern: str, texts: set[str]) -> None:
    assert derive(pattern).texts == texts


@pytest.mark.parametrize(
    ("pattern", "first"),
    [
        ("fail", "f"),
        (r"(?:✖ )?(?:no|an) error", "an"),
        (r"\d+|[x-z]?!", "!0123456789xyz"),
        (r"(?!a)(?<=b)^c*d", "cd"),
        (r"\s+at", " \t\n\r\x0b\x0c\x1c\x1d\x1e\x1f"),
        (r"[^\s~-]", "".join(c for c in ASCII if not c.isspace() and c not in "-~")),
        ("✖", ""),
        (".*error", ASCII.replace("\n", "")),
        ("x?", None),
        (r"(x)?\1", None),
        ("(?i:x)", None),
    ],
)
def test_an_expression_begins_with_one_of_few_letters(pattern: str, first: str | None) -> None:
    found = derive(pattern).first
    assert (found if found is None else set(found)) == (first if first is None else set(first))
