"""Text on its way to GitHub, read again as GitHub reads it: by a parser of CommonMark with tables."""

import re

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt
from markdown_it.token import Token

from github.client.defuse import defused, defused_plain, outgoing
from github.client.text import MAX_BODY, length

PARSER = MarkdownIt("commonmark").enable(["table", "strikethrough"])
CLOSES = re.compile(
    r"\b(?:close[sd]?|fix(?:e[sd])?|resolve[sd]?)[:\s*_(\[]{0,5}(?:(?:[\w.-]+/[\w.-]+)?#\d|GH-\d|https?://\S+/\d)", re.I
)
MENTIONS = re.compile(r"(?<![A-Za-z0-9])@[A-Za-z0-9]")
ATOMS = [
    *("```", "````", "~~~", "`", "``", "\n", "\n", "\n\n", "\r", "> ", ">", "- ", "1. ", "    ", "  ", "\t", "|", "\\"),
    *("\n| a |\n| - |\n| ", " |\n", "@ann", "@acme/crew", "&#64;ann", "\\@ann", "fixes #1", "Closes: acme/w#2", "#1"),
    *(
        "resolved GH-3",
        "fix",
        "es",
        "fix\nhttps://github.com/a/b/issues/4",
        "![x](http://e/i.png)",
        "![x]",
        "!",
        "[",
        "]",
    ),
    *(
        "<!-- greenloop:session:s_1 -->",
        "<img src=x>",
        "<details>",
        "<summary>",
        "</details>",
        "<pre>",
        "<script>",
        "&lt;",
    ),
    *(
        "\n[//]: # (hidden)\n",
        "[x]: ",
        "http://e/@ann",
        "\u200b",
        "\u202e",
        "\u3164",
        "\ufe01",
        "\U000e0141",
        "a",
        "$$",
        "---\n",
        "# ",
        "<",
        "&",
        "@",
        "**",
    ),
]


def tokens(text: str) -> tuple[list[Token], dict[str, object]]:
    env: dict[str, object] = {}
    found = PARSER.parse(text, env)
    return [each for token in found for each in (token, *(token.children or ()))], env


def does_nothing(text: str) -> None:
    found, env = tokens(text)
    assert not {"html_block", "html_inline", "image"} & {each.type for each in found}, text
    assert not env.get("references"), text
    said = [each.content for each in found if each.type in ("text", "text_special")]
    assert not [each for each in said if MENTIONS.search(re.sub(r"https?://\S+", "", each))], text
    assert not CLOSES.search(text), text


@settings(max_examples=400, deadline=None)
@given(st.lists(st.sampled_from(ATOMS), max_size=30).map("".join))
def test_whatever_was_written_nothing_of_it_acts(text: str) -> None:
    safe = defused(text)
    does_nothing(safe)
    assert defused(safe) == safe
    does_nothing(safe + "\n\nwhat comes after, and @\u200bnobody")
    after, _ = tokens(safe + "\n\nwhat comes after")
    assert [each.content for each in after if each.type == "inline"][-1] == "what comes after"


@settings(max_examples=200, deadline=None)
@given(st.lists(st.sampled_from(ATOMS), max_size=30).map("".join))
def test_a_title_or_a_commit_closes_nothing_and_mentions_nobody(text: str) -> None:
    safe = defused_plain(text)
    assert not CLOSES.search(safe)
    assert not MENTIONS.search(re.sub(r"https?://\S+", "", safe))
    assert defused_plain(safe) == safe
    assert not {"html_inline", "image"} & {each.type for each in tokens(safe)[0] if each.content != "<pre>"}


@pytest.mark.parametrize(
    "closing",
    [
        *("fixes #1", "Fixed: #1", "CLOSES  #1", "close\n#1", "resolve **#1**", "resolves acme/widgets#1", "fix GH-1"),
        *("closed https://github.com/acme/widgets/issues/1", "fixes [#1](https://e/x)", "_fixes_ #1", "re-fixes #1"),
        *("fixes&nbsp;#1", "fi\u200bxes #1", "f\u00adix #1", "clo\u2060ses\u00a0#1", "clo\u017fes #1", "fixes\r\n#1"),
        *(
            "fixes `#1`",
            "```\nfixes #1\n```",
            "> fixes\n> #1",
            "fixes:#1",
            "fixes#1",
            "fixes http://github.com/a/b/pull/1",
        ),
    ],
)
def test_no_form_of_a_closing_word_is_left(closing: str) -> None:
    word = re.compile(r"(?:close[sd]?|clo\u017fes|fix(?:e[sd])?|fixed|resolves?)(?![a-z])", re.I)
    assert word.search(closing.replace("\u200b", "").replace("\u00ad", "").replace("\u2060", ""))
    for safe in (defused(closing), defused_plain(closing)):
        assert not word.search(safe)


@pytest.mark.parametrize(
    "text",
    [
        *(
            "It fixes 3 bugs and closes the file.",
            "The fix is in #12's branch, see acme/widgets#3.",
            "prefix #1 and suffixed",
        ),
        *(
            "Use `@pytest.fixture` and `a < b && c`.",
            "mail ann@example.com",
            "a < b > c & d",
            "1. one\n2. two\n\n- [x] done",
        ),
        *(
            "```py\n@app.get('/')\ndef f(): return '<b>'\n```",
            "> quoted\n> more",
            "| a | b |\n| --- | --- |\n| `x` | y |",
        ),
        *(
            "See [the docs](https://example.com/a?b=1#c).",
            "# Title\n\n**bold** _it_",
            "and/or /usr/bin/x",
            "AT&T &lt; &amp;",
        ),
    ],
)
def test_ordinary_text_stays_as_it_is(text: str) -> None:
    assert defused(text) == text


def test_a_fence_in_a_list_goes_to_the_beginning_of_its_line_and_one_left_open_is_ended() -> None:
    assert defused("1. Do\n   ```sh\n   make\n     x\n   ```\n2. Go") == "1. Do\n```sh\nmake\n  x\n```\n2. Go"
    assert defused("```py\nx = 1") == "```py\nx = 1\n```"


@pytest.mark.parametrize("unseen", ["\u034f", "\u115f", "\u3164", "\ufe01", "\uffa0", "\U000e0041", "\U000e0141"])
def test_letters_that_nobody_sees_say_nothing_to_who_reads_the_bytes(unseen: str) -> None:
    assert defused(f"a{unseen * 20}b") == defused_plain(f"a{unseen * 20}b") == "ab"


def test_commands_to_other_bots_at_the_beginning_of_a_line_are_none() -> None:
    assert defused("ok\n/approve\n  /lgtm cancel") == "ok\n\\/approve\n  \\/lgtm cancel"


def test_the_issue_of_the_work_is_closed_and_no_other_not_even_of_the_same_number() -> None:
    said = defused("Closes #12.\n\nfixes #1, fixes #123, fixes acme/other#12", closes=12)
    assert said.startswith("Closes #12.")
    assert len(CLOSES.findall(said)) == 1


def test_our_own_folds_stay_are_ended_and_hide_no_markdown() -> None:
    fold = "<details><summary>Why `x` is red</summary>\n\n```text\n<b>\n```\n\n</details>\n\nafter"
    assert outgoing(fold) == fold
    assert outgoing("<details><summary>a</summary>\n```\n@ann\n```") == (
        "<details><summary>a</summary>\n\n```\n@ann\n```\n</details>"
    )
    assert "<details" not in defused(fold)
    assert "<details" not in outgoing("> <details><summary>a</summary>\n<details open><summary>b</summary>")


@pytest.mark.parametrize(
    "piece", ["`@ann ", "fixes #1 ", "```\n@ann\n", "<img src=x>", "[//]: # (x)\n", "> `@ann\n", "`` ` @a "]
)
def test_a_text_that_is_too_long_is_cut_and_still_does_nothing(piece: str) -> None:
    cut = outgoing(piece * 20_000)
    assert length(cut) <= MAX_BODY
    does_nothing(cut)
