"""The table of lines that make a run green whatever the tests say, and where they mean that. Pure."""

import re
from dataclasses import dataclass
from typing import Literal

Where = Literal["test", "old test", "hook", "product", "code"]
"""`old test`: a test that stood there before. `test`: a file with tests or a helper of them. `hook`: what a runner loads before tests. `product`: code that is
neither. `code`: any of them."""


@dataclass(frozen=True, slots=True)
class Sign:
    """A line that matches `pattern` in a file of this kind says `what`."""

    where: Where
    code: str
    pattern: re.Pattern[str]
    what: str


def _sign(where: Where, code: str, what: str, *patterns: str) -> Sign:
    return Sign(where, code, re.compile("|".join(patterns)), what)


_DETECTS = "lets the product behave otherwise under a test runner"
_RIGS = "settles the outcome of tests or of the whole run"

# fmt: off
SIGNS = (
    _sign(
        "product",
        "runner_detected",
        _DETECTS,
        r"['\"](?:pytest|_pytest|unittest|nose)['\"]\s+(?:not )?in\s+(?:sys\.)?(?:modules|argv)",
        r"sys\.modules(?:\.get\(|\[)\s*['\"](?:pytest|_pytest|unittest)",
        r"PYTEST_(?:CURRENT_TEST|VERSION|XDIST\w*)|\b(?:JEST_WORKER_ID|VITEST(?:_\w+)?|MOCHA_\w+|PLAYWRIGHT_TEST\w*|NEXTEST(?:_\w+)?)\b",
        r"import\.meta\.vitest|typeof\s+(?:jest|vi|describe|it|expect|jasmine|mocha)\b|\bglobal(?:This)?\.(?:jest|vi|describe|it|expect|jasmine)\b",
        r"\btesting\.Testing\(\)|flag\.Lookup\(\"test\.|\.test\"\)\s*(?:\{|\|\||&&)|HasSuffix\(os\.Args\[0\]",
        r"\bcfg!\(test\)|\bdefined\?\((?:::)?(?:RSpec|Minitest|Test::Unit)|\bRails\.env\.test\?",
        r"PHPUNIT_|(?:class_exists|defined)\(\s*['\"]\\?(?:PHPUnit|PHPUNIT)",
        r"Class\.forName\(\s*\"org\.(?:junit|testng)|getStackTrace\(\).*(?:junit|[Tt]est)|\.(?:contains|startsWith)\(\"org\.(?:junit|testng)",
        r"(?:GetAssemblies|FriendlyName|ProcessName|CommandLine).*(?:[xX]unit|nunit|testhost|[tT]est)|\bIsRunningTests?\b|AppDomain.*xunit",
        r"inspect\.(?:stack|currentframe)\(.*|sys\._getframe\(.*test|\b(?:argv|args)\b.*['\"](?:\w*py\.?test\w*|jest|vitest|mocha|rspec|phpunit)\b",
        r"(?:new Error\(\)|err)\.stack.*(?:jest|spec|test)|(?:caller|caller_locations)\b.*(?:spec|rspec|test)",
        r"\benv(?:iron)?\b.*\b(?:GITHUB_ACTIONS|CI|CIRCLECI|GITLAB_CI|TEST_ENV|TESTING|RUNNING_TESTS?)\b['\"]?",
        r"\b(?:[gG]etenv|GetEnvironmentVariable|ENV|env::var(?:_os)?|std::getenv)\b\W{1,3}['\"]?(?:GITHUB_ACTIONS|CI|CIRCLECI|TESTING|RUNNING_TESTS?)['\"]",
        r"runtime\.Callers?\(.*|strings\.(?:Contains|HasSuffix)\(.*_test(?:\.go)?\"",
    ),
    _sign(
        "product",
        "runner_detected",
        _DETECTS,
        r"NODE_ENV\s*={2,3}\s*['\"]test['\"]|['\"]test['\"]\s*={2,3}\s*process\.env\.NODE_ENV",
    ),
    _sign(
        "hook",
        "run_rigged",
        _RIGS,
        r"^(?:async )?def pytest_(?:runtest_makereport|runtest_protocol|pyfunc_call|runtest_call|ignore_collect|deselected|assertion_pass|report_teststatus|runtest_logreport)\b",
        r"\b(?:items|tests)\[:\]\s*=|\b(?:items|tests)\.(?:clear|remove|pop)\(|\bdel items\b|pytest_deselected\(",
        r"add_marker\(.*(?:skip|xfail)|\.exitstatus\s*=|\bexitstatus\s*=\s*0|\.testsfailed\s*=|force_result\(|(?:rep|report|outcome|result)\.(?:outcome|passed|failed|longrepr|excinfo|_excinfo)\s*=",
        r"^@?pytest\.mark\.(?:skip|xfail)|\bitem\.obj\s*=|\bcollect_ignore|\bnodeid\b.*(?:skip|return)|\.wasxfail\s*=",
        r"expect\.extend\(|(?:global(?:This)?|window)\.(?:expect|it|test|describe|assert|fail)\s*=|jest\.spyOn\(.*(?:expect|it|test)\b",
        r"filter_run_excluding|\bfilter_run\b|define_derived_metadata.*\bskip|around\(:each\).*rescue|RSpec::Expectations\b.*(?:define_method|class_eval)|\bskip\(",
        r"\bset_exception\b|handle_exception\(|def (?:failed|passed)\?",
    ),
    _sign(
        "test",
        "run_rigged",
        _RIGS,
        r"\b(?:os|sys)\._?exit\(\s*0?\s*\)|^raise SystemExit(?:\(0?\))?$|\bprocess\.(?:exit\(\s*0?\s*\)|exitCode\s*=\s*0|reallyExit)",
        r"\bos\.Exit\(\s*0\s*\)|\bstd::process::exit\(0\)|\bSystem\.exit\(0\)|\bEnvironment\.Exit\(0\)|^exit!?\s*\(?\s*0\b|\bat_exit\b|\batexit\.register|_exit\(0\)",
        r"^process\.on\(\s*['\"](?:exit|uncaughtException|unhandledRejection)|^(?:m|testing)\.Run\(\)$|^_\s*=\s*m\.Run\(\)",
        r"^(?:del\s+[tT]est\w*|[tT]est\w+\s*=\s*(?:None|lambda\b.*)|\w+\.__test__\s*=\s*False|__test__\s*=\s*\{?.*False)",
        r"\bdef __eq__\(.*\breturn True|^def __(?:eq|ne|bool|contains)__|\bbuiltins\.\w+\s*=|^(?:TestCase|unittest\.TestCase|cls|self)\.(?:assert\w+|fail)\s*=|(?:Assert\w*|TestCase)\.\w+\s*=\s*lambda",
        r"^(?:expect|assert|it|test|describe|assert_eq)\s*=\s*|^(?:const|let|var|function)\s+(?:expect|assert|it|test|describe)\b\s*(?:=|\()(?!\s*require)|^def (?:assert(?:Equal|True|False|In|_equal|_called\w*)|expect|fail)\b|^macro_rules!\s+assert\w*|^#define\s+(?:ASSERT|EXPECT|CHECK|REQUIRE|assert)\w*",
        r"PYTEST_DONT_REWRITE|sys\.settrace|__debug__\s*=|PYTHONOPTIMIZE|error_reporting\(0\)",
    ),
    _sign(
        "test",
        "assertion_weakened",
        "lets a test assert nothing",
        r"\bexpect\.assertions\(0\)|expectNotToPerformAssertions|DoesNotPerformAssertions|\bAssert\.Pass\(|doesNotPerformAssertions|\bAssert\.Inconclusive",
    ),
    _sign("test", "test_skipped", "runs a test under a condition only", r"^@Enabled(?:If|On|For)\w*"),
    _sign(
        "code",
        "test_skipped",
        "compiles tests under a condition only",
        r"^#!?\[cfg\((?!test\b|all\(test\b).*\)\]\s*(?:mod \w*tests?\b.*)?$",
    ),
    _sign(
        "old test",
        "assertion_weakened",
        "lets a test pass that fails",
        r"\brecover\(\)|catch_unwind\(|^#\[should_panic|@Test\(.*expected(?:Exceptions)?\s*=|\[?ExpectedException\b|expectException(?:Message)?\(|^pytest\.raises\(|^with (?:pytest|self)\.(?:raises|assertRaises)\(\s*(?:Exception|BaseException|AssertionError)",
    ),
    _sign(
        "test",
        "test_skipped",
        "lets failures be tried again until they pass",
        r"\bmark\.flaky\b|^@flaky\b|\bjest\.retryTimes\(|\bretries:\s*[1-9]|\bthis\.retries\(|\.retries\([1-9]|@(?:RetryingTest|RepeatedIfExceptionsTest|Retry)\b|\bretry:\s*[1-9]|flaky-test|@retry\b|\[Retry\(",
    ),
    _sign(
        "code",
        "check_loosened",
        "silences a checker",
        r"#\s*(?:noqa\b|type:\s*ignore|pylint:\s*(?:disable|skip-file)|ruff:\s*noqa|flake8:\s*noqa|mypy:\s*ignore-errors|pyright:\s*ignore|pragma:\s*no\s*(?:cover|branch)|nosec\b|fmt:\s*(?:off|skip))",
        r"\beslint-disable|@ts-(?:ignore|nocheck|expect-error)|(?:istanbul|c8|v8) ignore|prettier-ignore|biome-ignore|tslint:disable|oxlint-disable|deno-lint-ignore",
        r"//\s*nolint|//\s*#nosec|//lint:ignore|^#!?\[(?:allow|expect)\(|#\[rustfmt::skip|#!?\[cfg_attr\(.*(?:allow|no_coverage|coverage\(off\))|#\[coverage\(off\)\]",
        r"@SuppressWarnings|@SuppressFBWarnings|CHECKSTYLE[: ]*OFF|NOPMD|//\s*NOSONAR|//\s*noinspection|@file:Suppress|^@Suppress\(|@formatter:off|@Generated\b.*jacoco",
        r"rubocop:\s*(?:disable|todo)|:nocov:|standard:disable|@phpstan-ignore|@psalm-suppress|phpcs:(?:ignore|disable)|@codeCoverageIgnore|phpstan-ignore",
        r"#pragma warning disable|SuppressMessage\(|ExcludeFromCodeCoverage|NOLINT\b|#pragma (?:GCC|clang) diagnostic ignored|LCOV_EXCL|swiftlint:disable|credo:disable|shellcheck disable|hadolint ignore|gitleaks:allow|nosemgrep",
    ),
)

HOOKS = re.compile(
    r"(?i)(?:^|/)(?:conftest\.py|(?:spec|rails|test)_helper\.rb|(?:jest|vitest|test)[._-]?setup\.[cm]?[jt]sx?|setup[-_.]?tests?\.[cm]?[jt]sx?"
    r"|setup\.[cm]?[jt]sx?|bootstrap\.php|tests?/__init__\.py|\w*(?:pytest|_)plugins?\w*\.py|main_test\.go|sitecustomize\.py|usercustomize\.py|globalsetup\.[cm]?[jt]s)$"
)
"""Files that a runner loads before it runs tests."""

SETTLED = re.compile(
    r"(?i)(?:^|/)(?:config|settings|environments?|initializers|scripts?|tools?|bin|docs?|examples?|benchmarks?|migrations?)(?:/|\.\w+$)|\.config\."
)
"""Where a product rightly asks which environment it runs in."""

STARTS_SERVER = re.compile(
    r"listen\(|logger|morgan|console\.|log\.|logging|sentry|telemetry|analytics|!==?|not\b|color|colour|tty|spinner|progress|retries|reporter|forbidOnly|workers|verbose",
    re.I,
)
"""What a product rightly leaves out, or does otherwise, where tests load it."""

PATCHES = re.compile(
    r"monkeypatch\.setattr\(\s*(?:['\"][\w.]*?\.?(\w+)['\"]|[\w.]+\s*,\s*['\"](\w+)['\"])"
    r"|\bpatch(?:\.object)?\(\s*(?:[\w.]+\s*,\s*)?['\"](?:[\w.]*\.)?(\w+)['\"]"
    r"|\b(?:jest|vi|sinon|td)\.(?:spyOn|stub|replace|replaceProperty|doMock)\(\s*[\w.]+\s*,\s*['\"](\w+)['\"]"
    r"|\b(?:allow|allow_any_instance_of|expect_any_instance_of)\(.*\)\.to receive\(:(\w+)\)|\.stubs?\(:(\w+)"
    r"|\bwhen\(\s*[\w.]+\.(\w+)\(|\bdoReturn\(.*\)\.when\([\w.]+\)\.(\w+)\(|->method\(\s*['\"](\w+)['\"]\)|\.Setup\(\s*\w+\s*=>\s*\w+\.(\w+)\("
    r"|^(?:[\w.]+\.)(\w+)\s*=\s*(?:lambda\b|(?:async )?\(?[\w, ]*\)?\s*=>|function\b|(?:jest|vi)\.fn\(|(?:Magic)?Mock\(|func\()"
    r"|^\s*(?:def|class)\s+(?:self\.)?(\w+)\s*\(|^(?:function|const|let|var)\s+(\w+)\s*(?:\(|=\s*(?:\(|async|function|jest\.fn|vi\.fn))|^(\w+)\s*(?::=|=)\s*(?:func\(|lambda\b)"
)
MODULES = re.compile(
    r"\b(?:jest|vi)\.(?:mock|doMock)\(\s*['\"]([^'\"]+)['\"]|\bproxyquire\(|\bmock\.module\(\s*['\"]([^'\"]+)['\"]"
)
ALWAYS_EQUAL = re.compile(
    r"def __eq__\(|\bdef ==\(|\bboolean equals\(\s*(?:final )?Object|\boverride bool Equals\(|fn eq\(&self|func\s*==\s*\(|operator\s*==|override fun equals\("
)
