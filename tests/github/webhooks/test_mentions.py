import time

import pytest

from github.webhooks.commands import Approve, Autofix, Command, Help, Retry, Run, Status, Stop, Unclear
from github.webhooks.mention_options import MentionOptions
from github.webhooks.mentions import mentioned, read

HANDLES = ("greenloop",)


@pytest.mark.parametrize(
    "text",
    [
        "@greenloop fix it",
        "@GreenLoop fix it",
        "@greenloop",
        "@greenloop, please look",
        "please @greenloop: fix it",
        "(@greenloop) fix it",
        "@greenloop[bot] fix it",
        "- a list\n- @greenloop fix it",
        "1. @greenloop fix it",
        "# @greenloop fix it",
        "**@greenloop** fix it",
        "*@greenloop fix it*",
        "_@greenloop fix it_",
        "__@greenloop__ fix it",
        "请@greenloop 修复",
        "@greenloop。修复",
        "On the forum Bob wrote:\n\n> it fails\n\n@greenloop fix that",
        "[@greenloop](https://example.com) fix it",
        "> somebody said something\n\n@greenloop fix that",
        "```\ncode\n```\n@greenloop fix that",
        "`code` @greenloop fix that",
        "<!-- a remark --> @greenloop fix that",
        "<!-- a remark -->\n\n@greenloop fix that",
        "text\r\n\r\n@greenloop fix it\r\n",
        "Fix it, @greenloop.",
        "Fix it, @greenloop!",
        "| a | b |\n|---|---|\n| @greenloop | fix |",
        "@greenloop\nfix it",
        "> quoted @greenloop\n\nand @greenloop for real",
        "`@greenloop` and @greenloop for real",
        "@greenloop don't use `@greenloop` here",
        "ünïcödé @greenloop fix it",
        "<details>\n\n@greenloop fix it\n\n</details>",
        "<div>\n@greenloop fix it\n</div>",
    ],
)
def test_a_mention_in_running_text_addresses_us(text: str) -> None:
    assert mentioned(text, HANDLES)


@pytest.mark.parametrize(
    "text",
    [
        None,
        "",
        "greenloop fix it",
        "me@greenloop.dev",
        "@greenloop.dev",
        "@greenloops",
        "@greenloop-team",
        "@greenloop_team",
        "@greenloop/team",
        "@@greenloop",
        "/@greenloop",
        "https://example.com/@greenloop",
        "<https://example.com/@greenloop>",
        "[here](https://example.com/@greenloop)",
        "[here](<@greenloop>)",
        "[here]: @greenloop\n",
        "![@greenloop](picture.png)",
        "`@greenloop fix it`",
        "``a ` @greenloop``",
        "```\n@greenloop fix it\n```",
        "~~~yaml\nuser: @greenloop\n~~~",
        "```\n@greenloop never closed",
        "    @greenloop indented code",
        "- item\n\n      @greenloop indented code in a list",
        "> @greenloop fix it",
        "> a\n@greenloop in a lazy continuation of the quote",
        "> > @greenloop fix it",
        "- > @greenloop in a quote in a list",
        "<!-- @greenloop fix it -->",
        "text <!-- @greenloop --> text",
        "<!--\n@greenloop fix it\n\nstill a comment -->",
        "<!-- @greenloop never closed",
        "<code>@greenloop</code>",
        "<div title='>@greenloop'>\n</div>",
        "<script>\n@greenloop\n</script>",
        "<details><summary>x</summary><code>@greenloop</code></details>",
        "<pre>\n@greenloop\n</pre>",
        "<blockquote>\n\n@greenloop fix it\n\n</blockquote>",
        '<a href="@greenloop">x</a>',
        r"a\@greenloop",
        "On Mon, 3 Nov 2026 at 10:00, A Person <a@example.com> wrote:\n@greenloop fix it",
        "Thanks!\n\nOn Mon, 3 Nov 2026 at 10:00, A Person\n<notifications@github.com> wrote:\n\n@greenloop fix it",
        "Thanks!\n\n-----Original Message-----\nFrom: A\n\n@greenloop fix it",
        "Thanks!\n\n________________________________\nFrom: A\nSent: B\n\n@greenloop fix it",
        "@greenloop's work is fine",
        "foo+@greenloop",
        "foo_@greenloop",
        "@greenloop__team",
        "é@greenloop",
        "@greenloopé",
        "＠greenloop fix it",
        "@greenl\u043e\u043ep fix it",
        "Thanks\r\n\r\nOn Mon, 3 Nov 2026 at 10:00, A <a@example.com> wrote:\r\n@greenloop fix it",
        "Thanks\n\nOn Mon, Nov 3, 2026 at 10:00 AM A ***@***.***> wrote:\n@greenloop fix it",
        "Thanks\r\n\r\n________________________________\r\nFrom: A\r\n\r\n@greenloop fix it",
        "@green loop",
    ],
)
def test_what_only_looks_like_a_mention_does_not(text: str | None) -> None:
    assert not mentioned(text, HANDLES)


@pytest.mark.parametrize(
    ("said", "command"),
    [
        ("stop", Stop()),
        ("STOP", Stop()),
        ("stop!", Stop()),
        ("approve " + "ab12" * 10, Approve("ab12" * 10)),
        ("approve `0123456789AB`, please", Approve("0123456789ab")),
        ("approve 0123456789ab and then merge it", Run("approve 0123456789ab and then merge it")),
        ("please stop", Stop()),
        ("stop it now, please", Stop()),
        ("stop, this is wrong", Stop()),
        ("cancel", Stop()),
        (": stop", Stop()),
        ("— stop", Stop()),
        ("retry", Retry()),
        ("retry please", Retry()),
        ("status", Status()),
        ("status?", Status()),
        ("help", Help()),
        ("help\n\nThank you", Help()),
        ("autofix on", Autofix(on=True)),
        ("autofix  OFF", Autofix(on=False)),
        ("stop using urllib in client.py", Run("stop using urllib in client.py")),
        ("retry the request three times in client.py", Run("retry the request three times in client.py")),
        ("help me to fix this", Run("help me to fix this")),
        ("status page shows 500, fix it", Run("status page shows 500, fix it")),
        ("stopwatch", Run("stopwatch")),
        ("", Run("")),
        ("fix it and stop", Run("fix it and stop")),
    ],
)
def test_a_command_stands_alone_and_a_sentence_is_free_text(said: str, command: Command) -> None:
    assert read(f"@greenloop {said}", HANDLES) == command


@pytest.mark.parametrize(
    "text",
    [
        "**@greenloop stop**",
        "**@greenloop** stop",
        "_@greenloop stop_",
        "~~@greenloop~~ stop",
        "[@greenloop](https://example.com) stop",
        "[@greenloop stop](https://example.com/x)",
        "@greenloop `stop`",
        '@greenloop "stop"',
        "@greenloop 🙏 stop 🛑",
        "@greenloop\r\nstop\r\n",
        "hey @greenloop... stop!",
        "- [ ] @greenloop stop",
        "# @greenloop stop #",
        "@greenloop stop\n---",
        "| what | why |\n|---|---|\n| @greenloop stop | it is wrong |",
        "<details><summary>@greenloop stop</summary>\n</details>",
        "@greenloop stop\n@greenloop retry",
    ],
)
def test_markup_around_a_command_does_not_make_a_task_of_it(text: str) -> None:
    assert read(text, HANDLES) == Stop()


@pytest.mark.parametrize(
    "said", ["`retry` is broken, mend it", "status.json is wrong", "help/ has a typo", '"stop" does nothing here']
)
def test_a_sentence_that_begins_with_a_command_in_markup_is_free_text(said: str) -> None:
    assert read(f"@greenloop {said}", HANDLES) == Run(said)


@pytest.mark.parametrize(
    ("text", "instruction"),
    [("**@greenloop** fix", "fix"), ("[@greenloop](x) fix", "fix"), ("*@greenloop fix*", "*fix*")],
)
def test_markup_that_was_only_around_the_mention_is_no_part_of_the_task(text: str, instruction: str) -> None:
    assert read(text, HANDLES) == Run(instruction)


@pytest.mark.parametrize(
    ("said", "nearest"),
    [
        ("stpo", "`stop`"),
        ("sotp!", "`stop`"),
        ("please stp it now", "`stop`"),
        ("cancle", "`cancel`"),
        ("retyr", "`retry`"),
        ("again", "`retry`"),
        ("rerun", "`retry`"),
        ("staus", "`status`"),
        ("hlep", "`help`"),
        ("abort", "`stop`"),
        ("autofix", "`autofix on` or `autofix off`"),
        ("autofix please", "`autofix on` or `autofix off`"),
        ("autofix of", "`autofix on` or `autofix off`"),
        ("auto-fix off", "`autofix on` or `autofix off`"),
        ("auto fix: on", "`autofix on` or `autofix off`"),
        ("autofix disable", "`autofix on` or `autofix off`"),
        ("turn autofix off", "`autofix on` or `autofix off`"),
        ("`stpo`", "`stop`"),
        ("approve", "`approve COMMIT`"),
        ("approve 0123456", "`approve COMMIT`"),
        ("approve this, please", "`approve COMMIT`"),
        ("\nstpo", "`stop`"),
        ("stpo\n\nThis is all wrong, and it costs us money every minute.", "`stop`"),
    ],
)
def test_words_that_are_nearly_a_command_are_answered_with_the_nearest(said: str, nearest: str) -> None:
    found = read(f"@greenloop {said}", HANDLES)
    assert isinstance(found, Unclear), found
    assert found.problems[0].endswith(f"Did you mean {nearest}?")


@pytest.mark.parametrize(
    "said",
    ["fix", "start", "test", "go", "refactor", "autofix the imports", "rebase", "revert", "entry"],
)
def test_a_short_task_is_a_task(said: str) -> None:
    assert read(f"@greenloop {said}", HANDLES) == Run(said)


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("@greenloop retry", ""),
        ("hey @greenloop retry!", ""),
        ("- @greenloop retry", ""),
        ("@greenloop try again please", ""),
        ("could you @greenloop\nretry\n\nThe network was down before", "could you\nThe network was down before"),
        ("@greenloop retry. Use the existing helper this time.", "Use the existing helper this time."),
    ],
)
def test_a_retry_carries_only_what_was_said_besides(text: str, hint: str) -> None:
    found = read(text, HANDLES)
    assert isinstance(found, Retry)
    assert found.hint.split() == hint.split()


@pytest.mark.parametrize(
    ("text", "options"),
    [
        ("@greenloop fix it <!-- --runtime codex -->", MentionOptions()),
        ("@greenloop fix it <!-- see\n--cap 5 --> please", MentionOptions()),
        ("@greenloop explain `foo\n--cap 5`", MentionOptions()),
        ('@greenloop add "--cap 5" to the docs', MentionOptions()),
        ("@greenloop add “--cap 5” to the docs", MentionOptions()),
        ("@greenloop add <code>--cap 5</code> to the docs", MentionOptions()),
        ("@greenloop fix it —thanks", MentionOptions()),
        ("@greenloop fix it –Bob", MentionOptions()),
        ("@greenloop fix it --thanks", MentionOptions()),
        ("@greenloop fix it --Bob", MentionOptions()),
        ("@greenloop fix it —cap 5", MentionOptions(cap=5)),
        ("@greenloop don't --cap 5 wait for it's sake", MentionOptions(cap=5)),
    ],
)
def test_options_in_comments_code_and_quotes_do_not_count_nor_do_courtesies(text: str, options: MentionOptions) -> None:
    found = read(text, HANDLES)
    assert isinstance(found, Run), found
    assert found.options == options


@pytest.mark.parametrize("said", ["stop --now", "stop --cap x", "status --verbose"])
def test_a_command_that_starts_nothing_is_not_refused_for_its_options(said: str) -> None:
    assert isinstance(read(f"@greenloop {said}", HANDLES), Stop | Status)


def test_the_instruction_is_the_whole_text_without_the_mention() -> None:
    text = "The login fails:\n\n```\nTraceback: boom\n```\n\n@greenloop --cap 5 please fix it\n\n> as quoted\n"
    whole = "The login fails:\n\n```\nTraceback: boom\n```\n\nplease fix it\n\n> as quoted"
    assert read(text, HANDLES) == Run(whole, MentionOptions(cap=5))


def test_the_words_before_a_mention_stay() -> None:
    assert read("When it is done, @greenloop fix the docs", HANDLES) == Run("When it is done, fix the docs")


def test_only_the_first_mention_that_counts_is_read() -> None:
    assert read("`@greenloop stop`\n\n@greenloop status\n\n@greenloop stop", HANDLES) == Status()


def test_an_app_may_have_several_handles() -> None:
    assert mentioned("@loop fix it", ("greenloop", "loop"))
    assert not mentioned("@loop.x fix it", ("greenloop", "loop"))
    assert mentioned("@my.app fix", ("my.app",))
    assert not mentioned("@myxapp fix", ("my.app",))


def test_private_use_characters_cannot_fake_a_mention() -> None:
    assert not mentioned("`@greenloop` \ue0000\ue001 fix", HANDLES)


@pytest.mark.parametrize(
    "unit",
    [
        "[",
        "*a ",
        "> ",
        "`",
        "<!-",
        "[a](",
        "_a",
        "![[",
        "a**",
        "*_",
        "- ",
        "<a ",
        "&",
        "\\",
        "On a\n",
        "_ ",
        "](",
        ".-",
        "--a ",
        "--cap 1 `x` ",
        "` --a ",
    ],
)
def test_no_text_of_a_stranger_takes_long_to_read(unit: str) -> None:
    text = (unit * 30_000)[:30_000] + "\n\n@greenloop fix it"
    started = time.process_time()
    read(text, HANDLES)
    read(f"@greenloop {text}", HANDLES)
    assert time.process_time() - started < 5
