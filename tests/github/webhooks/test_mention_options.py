import pytest

from github.webhooks.mention_options import MentionOptions, read_options


@pytest.mark.parametrize(
    ("line", "options", "text"),
    [
        ("--runtime codex fix it", MentionOptions(runtime="codex"), "fix it"),
        ("--runtime=Codex fix it", MentionOptions(runtime="codex"), "fix it"),
        ("fix it --model anthropic/claude-5", MentionOptions(model="anthropic/claude-5"), "fix it"),
        ("fix --base release/1.x it", MentionOptions(base="release/1.x"), "fix it"),
        ("--cap 5 --runtime opencode fix", MentionOptions(cap=5, runtime="opencode"), "fix"),
        ("—cap 2 fix", MentionOptions(cap=2), "fix"),
        ("retry --cap=1", MentionOptions(cap=1), "retry"),
        ('--model "gpt-5" fix', MentionOptions(model="gpt-5"), "fix"),
        ("--model=`gpt-5` fix", MentionOptions(model="gpt-5"), "fix"),
        ("--model `gpt-5` fix", MentionOptions(model="gpt-5"), "fix"),
        ("``a ` --cap 9`` and ` --cap 2 fix", MentionOptions(cap=2), "``a ` --cap 9`` and ` fix"),
        ("--cap 5 --cap 5 fix", MentionOptions(cap=5), "fix"),
        ("document `--cap 9` in the README", MentionOptions(), "document `--cap 9` in the README"),
        ("add a --verbose flag to the tool", MentionOptions(), "add a --verbose flag to the tool"),
        ("a well--known problem", MentionOptions(), "a well--known problem"),
        ("-v is not printed", MentionOptions(), "-v is not printed"),
    ],
)
def test_options_are_taken_out_of_the_line(line: str, options: MentionOptions, text: str) -> None:
    left, found, problems = read_options(line)
    assert (left.strip(), found, problems) == (text, options, ())


@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("--runtim codex fix", ["`--runtim`", "Did you mean `--runtime`?"]),
        ("fix it --speed fast", ["`--speed`", "`--runtime`, `--model`, `--base`, `--cap`", "backticks"]),
        ("--force", ["`--force`"]),
        ("--cap", ["`--cap` needs a value", "--cap 3"]),
        ("--cap --base main", ["`--cap` needs a value"]),
        ("--cap many", ["`--cap many`", "1 to 50"]),
        ("--cap 0", ["1 to 50"]),
        ("--cap -1", ["1 to 50"]),
        ("--cap 999999999999999999999", ["1 to 50"]),
        ("--cap ٣", ["1 to 50"]),
        ("--base a..b", ["`--base a..b`", "no branch name"]),
        ("--runtime $(rm)", ["`--runtime $(rm)`"]),
        ('--model "gpt 5" fix', ["`--model gpt 5`"]),
        ("--base='a b' fix", ["`--base a b`", "no branch name"]),
        ("--cap 2 --cap 3", ["given twice", "`2`", "`3`"]),
    ],
)
def test_a_wrong_option_is_explained(line: str, words: list[str]) -> None:
    _text, _options, problems = read_options(line)
    assert len(problems) == 1
    for word in words:
        assert word in problems[0]
