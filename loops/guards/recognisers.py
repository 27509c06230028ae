"""The table of what tests look like in a line of code: names, skips, assertions, and steps made harmless. Pure."""

import re

LINE = 400
"""More of a line than this many characters is not looked at."""


def _any(*patterns: str) -> re.Pattern[str]:
    return re.compile("|".join(patterns))


# The name of a test, in the first group that matched.
_CALLED = (
    r"""^x?f?(?:it|test|specify|describe|context|suite|scenario|feature)(?:\.\w+(?:\([^'"`]{0,80}\))?)*"""
    r"""\s*\(?\s*(?:'([^']+)'|"([^"]+)"|`([^`]+)`)"""
)
NAMES: dict[str, re.Pattern[str]] = {
    "python": _any(r"^(?:async\s+)?def\s+(test\w*)\s*\(", r"^class\s+(Test\w*)"),
    "javascript": re.compile(_CALLED),
    "go": _any(r"^func\s+((?:Test|Benchmark|Fuzz|Example)\w*)\s*\(", r"^t\.Run\(\s*\"([^\"]+)\""),
    "rust": re.compile(r"^(?:pub\s+)?(?:async\s+)?fn\s+(\w+)\s*\("),
    "jvm": _any(r"(?:\bvoid|\bfun)\s+(?:`([^`]+)`|(\w+))\s*\(", r"^test\(\s*\"([^\"]+)\""),
    "dotnet": re.compile(
        r"^(?:public|internal|private)?\s*(?:static\s+)?(?:async\s+)?(?:void|Task|ValueTask)\s+(\w+)\s*\("
    ),
    "ruby": _any(_CALLED, r"^def\s+(test_\w+)"),
    "php": _any(r"function\s+(test\w+)\s*\(", _CALLED),
    "elixir": re.compile(r"^(?:test|describe)\s+\"([^\"]+)\""),
    "swift": re.compile(r"\bfunc\s+(\w+)\s*\("),
    "c": _any(
        r"^(?:TEST|TEST_F|TEST_P|TYPED_TEST|TYPED_TEST_P)\s*\(\s*(\w+\s*,\s*\w+)",
        r"^(?:TEST_CASE|SCENARIO|SECTION)\s*\(\s*\"([^\"]+)\"",
    ),
    "dart": re.compile(r"^(?:test|testWidgets|group)\(\s*(?:'([^']+)'|\"([^\"]+)\")"),
    "r": re.compile(r"^test_that\(\s*\"([^\"]+)\""),
    "shell": re.compile(r"^@test\s+[\"']([^\"']+)[\"']"),
}
# Where a name alone does not make a test: what has to stand on one of the lines before it (or begin the name).
MARKERS: dict[str, re.Pattern[str]] = {
    "rust": re.compile(r"^#\[(?:\w+::)*(?:test|rstest|test_case)\b"),
    "jvm": re.compile(r"^@(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\b|^test\("),
    "dotnet": re.compile(r"^\[(?:\w+,\s*)*(?:Fact|Theory|Test|TestMethod|TestCase|DataTestMethod)\b"),
    "swift": re.compile(r"^@Test\b|\bfunc\s+test"),
}

_SUITE = r"(?:it|test|describe|context|suite|specify)"
SKIPS: dict[str, re.Pattern[str]] = {
    "python": _any(
        r"^@(?:pytest\.)?mark\.(?:skip|skipif|xfail)\b",
        r"^@(?:unittest\.)?(?:skip|skipIf|skipUnless|expectedFailure)\b",
        r"\bpytest\.(?:skip|xfail|importorskip)\(",
        r"\bself\.skipTest\(",
        r"^raise\s+(?:unittest\.)?SkipTest\b",
        r"^pytestmark\s*=.*\b(?:skip|xfail)",
        r"^collect_ignore(?:_glob)?\b",
        r"\bmarks\s*=\s*\[?\s*pytest\.mark\.(?:skip|xfail)",
        r"^__test__\s*=\s*False\b",
    ),
    "javascript": _any(
        rf"^{_SUITE}(?:\.\w+)*\.(?:skip|only|todo|failing|fails|fixme|skipIf|runIf)\b",
        r"^(?:x(?:it|test|describe|context|specify)|f(?:it|describe|context))\s*\(",
        r"^(?:this|t|context)\.(?:skip|todo)\(",
        r"\{\s*(?:skip|todo)\s*:\s*(?!false)",
    ),
    "go": _any(r"\b[tbf]\.Skip(?:f|Now)?\(", r"^//go:build\s+(?:ignore|never)\b", r"^// \+build ignore\b"),
    "rust": _any(r"^#\[ignore\b", r"^#\[cfg_attr\(.*\bignore\b", r"^#\[cfg\((?:any\(\)|FALSE|false)\)\]"),
    "jvm": _any(
        r"^@(?:Disabled|Ignore|Ignored|DisabledIf\w*|DisabledOn\w*)\b",
        r"@Test\(\s*enabled\s*=\s*false",
        r"\bassumeTrue\(\s*false",
        r"^(?:ignore|xtest)\(\s*\"",
        r"^pending\b",
    ),
    "dotnet": _any(
        r"^\[(?:\w+,\s*)*(?:Ignore|Explicit)\b",
        r"\b(?:Fact|Theory)\(.*\bSkip\s*=",
        r"\bAssert\.(?:Ignore|Inconclusive|Skip)\(",
        r"\bSkip\.(?:If|IfNot)\(",
    ),
    "ruby": _any(
        r"^(?:skip|pending)\b(?!\s*=)",
        r"^x(?:it|describe|context|specify|scenario)\b",
        r"^f(?:it|describe|context)\s+['\"]",
        r"^(?:it|describe|context|test)\b.*(?:,\s*:(?:skip|pending)\b|\b(?:skip|pending):\s*(?!false))",
    ),
    "php": _any(
        r"->markTest(?:Skipped|Incomplete)\(", r"^(?:\$this->|self::|static::)markTest", r"->(?:skip|todo|only)\("
    ),
    "elixir": re.compile(r"^@(?:module|describe)?tag\s+(?::skip|skip:)"),
    "swift": _any(r"\bXCTSkip(?:If|Unless)?\b", r"@(?:Test|Suite)\(.*\.disabled\b", r"\bwithKnownIssue\b"),
    "c": _any(r"\bGTEST_SKIP\(", r"\bDISABLED_\w+", r"\[!(?:mayfail|shouldfail)\]", r"^SKIP\(", r"doctest::skip\("),
    "dart": _any(r"\bskip:\s*(?!false|null)", r"^@Skip\b"),
    "r": re.compile(r"^(?:testthat::)?skip(?:_if\w*|_on\w*)?\("),
    "shell": re.compile(r"^skip\b"),
}
ONLY = re.compile(rf"^(?:{_SUITE}(?:\.\w+)*\.only\b|f(?:it|describe|context)\b)")

ASSERTION = _any(
    r"\bassert\w*!?[\s(.]",
    r"\bexpect\w*\s*[({]",
    r"\bAssert\.\w+",
    r"\.[sS]hould\b",
    r"\brequire\.[A-Z]\w+\(",
    r"\b[tb]\.(?:Error|Fatal)f?\(",
    r"\b(?:XCTAssert|EXPECT_|ASSERT_|CHECK|REQUIRE)\w*\(",
    r"#(?:expect|require)\(",
    r"\b(?:must|wont)_\w+",
    r"\brefute\w*\b",
    r"\bself\.fail\(",
    r"->assert\w+\(",
    r"\bshouldBe\b",
)
_TRIVIAL = _any(
    r"\bassert\s*\(?\s*(?:True|true|1)\s*\)?\s*(?:[,;#]|$)",
    r"\bassert(?:True|_true|That)?!?\(\s*(?:[Tt]rue|1)\s*[,)]",
    r"\b(?:Assert\.(?:True|IsTrue)|XCTAssertTrue|EXPECT_TRUE|ASSERT_TRUE|REQUIRE|CHECK|assert\.ok"
    r"|assert\.True|require\.True)\((?:t,\s*)?true\s*[,)]",
    r"\bexpect\(\s*(true|1)\s*\)\.(?:toBe|toEqual|toBeTruthy|to\.equal|to\.be\.true|to eq|to be)",
    r"\bassert.*(?:\bor True\b|\|\|\s*true\b)",
    r"\bassertEqual\(\s*(\w+)\s*,\s*\2\s*\)",
    r"\bassert\s+(.{3,120}?)\s*==\s*\3\s*(?:,|$)|\b(?:[aA]ssert\w*|Assert\.\w+)!?\((?:t,\s*)?([^,]{3,120}),\s*\4\s*[,)]",
    r"\bexpect\((.{3,120}?)\)\.(?:to(?:Be|Equal|StrictEqual)|to\.(?:deep\.)?equal|to eq)\s*\(?\5\)",
    r"^\s*assert\s*\(.*,\s*f?[\"'][^\"']*[\"']\)\s*$",  # a tuple is true
    r"\bexpect\((?:[^()]|\([^()]*\))*\)\s*;\s*$",  # nothing is expected
    r"^\s*expect\(.*\)\.(?:rejects|resolves)\b|\.(?:rejects|resolves)\b.*\.catch\(",  # nobody waits for it
)
_WEAK = _any(
    r"\b(?:toBeTruthy|toBeDefined|anything\(\)|assertIsNotNone|assertNotNull|assertNotNil|assert_not_nil"
    r"|NotNil|NotEmpty|IsNotNull|be_truthy|be_present|assertNotEmpty|toHaveBeenCalled|assertDoesNotThrow|DoesNotThrow|NoError)\b",
    r"\.not\.(?:toBeNull|toBeUndefined|toThrow)\b|\bnot_to (?:be_nil|raise_error)|\bto\.(?:exist|be\.ok)\b",
    r"==\s*(?:mock\.)?ANY\b|\(\s*(?:mock\.)?ANY\s*\)|expect\.anything\(\)|\bIsAny|\bArg\.Any|Matchers\.any|\banything\b|eq\(anything",
    r"\bis not None\s*(?:[,#]|$)|!=\s*(?:nil|null)\b|\.is_(?:ok|some)\(\)",
    r"\bassert(?:True|_true)?!?[ (](?:\s*self\.)?[^=<>!]*$",
    r"\b(?:Assert\.(?:True|IsTrue|NotNull)|assert\.(?:ok|True)|require\.True|EXPECT_TRUE|ASSERT_TRUE"
    r"|XCTAssertTrue|XCTAssertNotNil)\([^=<>!]*$",
)
_LOOSE = _any(
    r"\b(?:assertIn|toContain\w*|toMatch\w*|toMatchObject|objectContaining|arrayContaining|stringContaining"
    r"|any\(|isinstance|assertIsInstance|toBeInstanceOf|Contains|AlmostEqual|assertAlmostEqual|approx|toBeCloseTo|InDelta|InEpsilon|include|be_within|startswith|endswith|assertRegex|be_a|typeof)",
    r"[Gg]reater|[Ll]ess(?:Than|Equal)?\w*\(|\bcontains\(",
    r"(?<![-=<>])[<>]=?(?![<>=])\s*[\w'\"(-]",
    r"\bassert\b.*\s(?:not\s+)?in\s",
    r"!=|\bNotEqual|not\.toBe|not\.toEqual|assertNotEqual",
)


def strength(line: str) -> int:
    """How much an assertion asks: 3 one value, 2 a range, a part or a type, 1 that something is there, 0 nothing."""
    if _TRIVIAL.search(line):
        return 0
    if line.rstrip().endswith(("(", "[", "{", ",", "\\", "==")):
        return 3  # what it asks stands on the next lines
    # before the loose ones: `assert x is not None` has no value to compare with
    if _WEAK.search(line):
        return 1
    return 2 if _LOOSE.search(line) else 3


HARMLESS = _any(
    r"\bcontinue-on-error:\s*(?:true|\$\{\{)",
    r"\ballow_failure:\s*true",
    r"\bcontinueOnError:\s*true",
    r"\|\|\s*(?:true|:|exit 0|echo\b|/bin/true)",
    r";\s*(?:true|exit 0)\s*[\"']?\s*$",
    r"^(?:-\s*)?(?:run:\s*)?set \+e\b",
    r"^(?:-\s*)?if:\s*(?:false|\$\{\{\s*false\s*\}\})",
    r"\bfail-on-error:\s*false|\bfail_ci_if_error:\s*false",
    r"-DskipTests|-Dmaven\.test\.skip|-Dmaven\.test\.failure\.ignore|\bskipTests>true"
    r"|\bignoreFailures\s*=\s*true|-x test\b",
    r"--exit-zero\b|--passWithNoTests\b|--no-verify\b",
    r"--ignore(?:-glob)?[= ]\S*test|--deselect\b|\s-k\s*[\"']?not\b|--exclude-task\s+test"
    r"|--testPathIgnorePatterns\b|-skip[= ]\S",
    r"\"test\"\s*:\s*\"(?:exit 0|true|echo\b[^\"|&;]*)\"",
    r"^-\s*(?:pytest|npm (?:run )?test|go test|cargo test|make test)",
)
"""A step that can no longer fail, or runs fewer tests."""

RUNS_TESTS = re.compile(
    r"\b(?:pytest|tox|nox|unittest|(?:npm|yarn|pnpm|bun) (?:run )?test\S*|jest|vitest|mocha|playwright test"
    r"|go test|gotestsum"
    r"|cargo (?:nextest|test)|mvn\b.{0,60}\b(?:test|verify)|gradlew?\b.{0,60}\b(?:test|check)|dotnet test"
    r"|rspec|rake test"
    r"|rails test|phpunit|pest|mix test|swift test|ctest|flutter test|make (?:test|check)|bats)\b"
)
