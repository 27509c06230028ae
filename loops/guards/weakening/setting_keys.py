"""The table of settings that say which tests run and how strict a checker is, by file and key. Pure."""

import re
from dataclasses import dataclass
from typing import Literal

Kind = Literal["tests", "leaves", "floor", "ceiling", "on", "off", "rules", "image"]
"""What it means for a setting to ask for less. "tests": it names where tests are, and loses some. "leaves": it names what is
left out, and gains some. "floor" and "ceiling": a number falls, or rises. "on" and "off": a switch. "rules": it names rules
that hold, and loses some. "image": it names a container image, and another one than before."""


@dataclass(frozen=True, slots=True)
class Key:
    """In a file that matches `file`, a setting whose section and name (`section:name`) match `name`."""

    file: re.Pattern[str]
    name: re.Pattern[str]
    kind: Kind
    code: str
    what: str


def _file(pattern: str) -> re.Pattern[str]:
    return re.compile(rf"(?i)(?:^|/)(?:{pattern})$")


_PYTHON = r"pyproject\.toml|setup\.cfg|tox\.ini|pytest\.ini|\.?pytest\.toml|\.coveragerc|\.?coveragerc\.toml|mypy\.ini|\.mypy\.ini|\.?ruff\.toml|\.flake8|\.pylintrc|pylintrc|pyrightconfig\.json|\.bandit"
_TESTS_JS = r"package\.json|(?:jest|vitest|vite|karma|playwright|cypress|ava|wdio)[\w.-]*\.(?:config|conf|workspace)?\.?[cm]?[jt]s(?:on)?|vitest\.workspace\.[jt]s|\.mocharc(?:\.\w+)?|\.nycrc(?:\.\w+)?|nyc\.config\.[cm]?js|\.c8rc(?:\.json)?|cypress\.json|project\.json"
_LINT_JS = r"\.eslintrc(?:\.\w+)?|eslint\.config\.[cm]?[jt]s|biome\.jsonc?|\.oxlintrc\.json|tsconfig[\w.-]*\.json|jsconfig\.json|\.stylelintrc(?:\.\w+)?|stylelint\.config\.[cm]?js|\.prettierrc(?:\.\w+)?|package\.json|deno\.jsonc?|\.htmlhintrc|tslint\.json|\.markdownlint\.\w+|\.yamllint(?:\.ya?ml)?|\.commitlintrc(?:\.\w+)?|\.jscpd\.json"
_RUBY = r"\.rubocop[\w.-]*\.ya?ml|\.standard\.ya?ml|\.rspec|\.simplecov|(?:spec|test|rails)_helper\.rb|Rakefile|\.reek\.ya?ml"
_PHP = r"phpunit[\w.-]*\.xml(?:\.dist)?|phpstan[\w.-]*\.neon(?:\.dist)?|psalm[\w.-]*\.xml(?:\.dist)?|\.?phpcs[\w.-]*\.xml(?:\.dist)?|composer\.json|phpmd[\w.-]*\.xml|infection\.json5?|\.php-cs-fixer[\w.]*\.php"
_JVM = r"pom\.xml|build\.gradle(?:\.kts)?|[\w.-]*checkstyle[\w.-]*\.xml|[\w.-]*pmd[\w.-]*\.xml|[\w.-]*spotbugs[\w.-]*\.xml|detekt[\w.-]*\.ya?ml|[\w.-]*suppressions?[\w.-]*\.xml|ruleset\.xml|testng[\w.-]*\.xml|gradle\.properties|junit-platform\.properties|lint\.xml|build\.sbt|\.scalafix\.conf|settings\.gradle(?:\.kts)?"
_DOTNET = r"[\w.-]+\.(?:cs|fs|vb)proj|Directory\.Build\.(?:props|targets)|\.editorconfig|\.globalconfig|[\w.-]+\.ruleset|[\w.-]+\.runsettings|stylecop\.json|coverlet[\w.-]*\.json|xunit\.runner\.json"
_GO = r"\.golangci\.(?:ya?ml|toml|json)|\.testcoverage\.ya?ml|\.?revive\.toml|staticcheck\.conf"
_RUST = r"Cargo\.toml|\.?clippy\.toml|rust-toolchain(?:\.toml)?|\.?tarpaulin\.toml|\.?nextest\.toml|deny\.toml|\.?rustfmt\.toml"
_OTHER = r"\.swiftlint\.ya?ml|\.credo\.exs|mix\.exs|coveralls\.json|analysis_options\.yaml|\.?codecov\.ya?ml|\.coveralls\.ya?ml|\.clang-tidy|CMakeLists\.txt|sonar-project\.properties|\.lintr|\.hadolint\.ya?ml|\.ansible-lint|\.luacheckrc|\.pre-commit-config\.ya?ml|lefthook\.ya?ml|nx\.json|turbo\.json"
_TASKS = r"Makefile|GNUmakefile|justfile|Taskfile\.ya?ml|noxfile\.py|Jenkinsfile|[\w.-]+\.(?:sh|bash)"
_CI = r"\.github/workflows/[^/]+\.ya?ml|\.gitlab-ci\.ya?ml|\.gitlab/.+\.ya?ml|\.circleci/config\.ya?ml|\.?azure-pipelines[^/]*\.ya?ml|\.travis\.ya?ml|bitbucket-pipelines\.ya?ml|\.buildkite/.+|\.cirrus\.ya?ml|\.drone\.ya?ml|\.woodpecker[^/]*"

LISTS = _file(
    r"\.(?:eslint|prettier|stylelint|flake8|trivy|semgrep|hadolint|markdownlint|nyc|mocha|gitleaks|solhint)ignore|\.rspec_ignore|\.rubocop_todo\.ya?ml|phpstan-baseline\.neon|psalm-baseline\.xml|detekt-baseline\.xml|lint-baseline\.xml|\.secrets\.baseline|known[_-]failures[\w.-]*|[\w-]*(?:skip|exclude|ignore|quarantine|flaky|denylist|blocklist|xfail)[\w-]*tests?[\w-]*\.(?:txt|json|ya?ml|list)|[\w-]*tests?[\w-]*(?:skip|exclude|ignore|quarantine|denylist|xfail)[\w-]*\.(?:txt|json|ya?ml|list)"
)
"""Files that are nothing but a list of what is left out."""
WORKFLOW = _file(_CI)
LINT = _file(
    "|".join(
        (
            _LINT_JS.replace(r"|package\.json", ""),
            r"\.rubocop[\w.-]*\.ya?ml",
            _GO,
            _RUST,
            _DOTNET,
            r"detekt[\w.-]*\.ya?ml",
            r"\.swiftlint\.ya?ml",
            "analysis_options\\.yaml",
            r"\.clang-tidy",
            r"\.credo\.exs",
            r"[\w.-]*checkstyle[\w.-]*\.xml",
        )
    )
)
"""Files in which any name may be a rule with a severity."""
EVERY = _file("|".join((_PYTHON, _TESTS_JS, _LINT_JS, _RUBY, _PHP, _JVM, _DOTNET, _GO, _RUST, _OTHER, _CI, _TASKS)))
SECTIONED = re.compile(r"(?i)(?:^|/)(?:pyproject\.toml|setup\.cfg|tox\.ini|Cargo\.toml)$")
TOOLS = re.compile(
    r"(?i)\b(?:pytest|ruff|flake8|mypy|pylint|coverage|isort|black|pyright|bandit|pydocstyle|lint|lints|lib|package|test|bin|profile|testenv|tox|interrogate|vulture)\b"
)
"""Sections of files for many tools that are about tests and checkers."""


def _key(files: str, names: str, kind: Kind, code: str, what: str) -> Key:
    return Key(_file(files), re.compile(rf"(?i)(?:^|:|\.)(?:{names})$"), kind, code, what)


_FEWER = "tests_narrowed"
_LOWER = "floor_lowered"
_LOOSER = "check_loosened"
_ANY = r"[^/]+"

# fmt: off
KEYS = (
    _key(
        r"\.golangci\.(?:ya?ml|toml|json)|detekt[\w.-]*\.ya?ml|\.?clippy\.toml|\.swiftlint\.ya?ml",
        r"threshold|max-\w[\w-]*|min-complexity|line-length|lines|statements|[\w-]*-threshold|allowed\w*|maxIssues|warning|error",
        "ceiling",
        _LOOSER,
        "allows more",
    ),
    _key(
        r"(?:GNU)?[Mm]akefile|justfile|[\w.-]+\.mk",
        r"check|ci|verify|all|tests?|validate|lint|default|pre-?commit|precommit|quality",
        "rules",
        _FEWER,
        "depends on less",
    ),
    _key(
        "|".join((_PYTHON, _TESTS_JS, _JVM, _PHP, _CI, _OTHER, _GO, _DOTNET, _RUBY, _RUST, _TASKS)),
        r"fail[_-]under|cov-fail-under|branches|functions|lines|statements|minimum_coverage(?:_by_file)?|minimum|minBound|minValue|minimumCoverage|minimum-coverage|min-coverage"
        r"|minMsi|minCoveredMsi|threshold-?total|total|threshold|target|mutationThreshold|coverageThreshold|line|branch|method|coverage|floor|fail-under-lines|minimumPriority|min_score|break|high|low"
        r"|min_?cov\w*|cov\w*_?min\w*|coverage_?threshold|THRESHOLD|REQUIRED_COVERAGE|file|package|minimum_message_count|minimum_tests?|refuse_coverage_drop",
        "floor",
        _LOWER,
        "asks for less coverage",
    ),
    _key(
        r"\.?codecov\.ya?ml|\.coveralls\.ya?ml|sonar-project\.properties",
        r"informational|if_no_uploads|require_ci_to_pass",
        "off",
        _LOWER,
        "no longer fails for lost coverage",
    ),
    _key(_PYTHON, r"omit|exclude_lines|exclude_also", "leaves", _LOWER, "leaves more out of the coverage"),
    _key(_TESTS_JS, r"coveragePathIgnorePatterns", "leaves", _LOWER, "leaves more out of the coverage"),
    _key(_TESTS_JS, r"collectCoverageFrom", "tests", _LOWER, "counts the coverage of less"),
    _key(
        _PYTHON,
        r"pytest[\w.]*:(?:testpaths|python_files|python_functions|python_classes)|testpaths|python_files|python_functions|python_classes",
        "tests",
        _FEWER,
        "finds fewer tests",
    ),
    _key(_PYTHON, r"norecursedirs|collect_ignore|collect_ignore_glob", "leaves", _FEWER, "leaves tests out"),
    _key(_PYTHON, r"envlist|env_list", "tests", _FEWER, "runs fewer environments"),
    _key(_PYTHON, r"filterwarnings", "leaves", _LOOSER, "lets warnings pass that were errors"),
    _key(_PYTHON, r"xfail_strict|strict_markers|strict_config|strict-markers", "on", _LOOSER, "is less strict"),
    _key(
        _TESTS_JS,
        r"testMatch|testRegex|testDir|roots|spec|specs|specPattern|projects|include|testFiles",
        "tests",
        _FEWER,
        "finds fewer tests",
    ),
    _key(
        _TESTS_JS,
        r"testPathIgnorePatterns|modulePathIgnorePatterns|testIgnore|exclude|excludeSpecPattern|grepInvert|ignore|testNamePattern|grep|excludedSpecs?|ignoreTestFiles",
        "leaves",
        _FEWER,
        "leaves tests out",
    ),
    _key(
        _TESTS_JS,
        r"passWithNoTests|allowOnly|dangerouslyIgnoreUnhandledErrors|invert",
        "off",
        _FEWER,
        "passes with fewer tests",
    ),
    _key(
        _TESTS_JS,
        r"forbidOnly|forbidPending|errorOnDeprecated|failZero|checkLeaks|check-coverage|resetMocks",
        "on",
        _FEWER,
        "is less strict",
    ),
    _key(
        _TESTS_JS + "|" + _RUST + "|" + _JVM,
        r"retries|retry|rerunFailingTestsCount|maxRetries|retryTimes|retry-count|max-retries",
        "ceiling",
        "test_skipped",
        "tries failed tests again until they pass",
    ),
    _key(
        _JVM,
        r"include|includes|includeTags|includeGroups|groups|suiteXmlFile|class|package",
        "tests",
        _FEWER,
        "finds fewer tests",
    ),
    _key(
        _JVM,
        r"exclude|excludes|excludeTags|excludedGroups|excludeTestsMatching|excludeGroups|excludeTestsMatching\(",
        "leaves",
        _FEWER,
        "leaves tests out",
    ),
    _key(
        _JVM,
        r"skipTests|skip|skipITs|testFailureIgnore|ignoreFailures|failIfNoTests|isIgnoreFailures|allowEmptyTests|failOnNoDiscoveredTests",
        "off",
        _FEWER,
        "passes without tests, or whatever they say",
    ),
    _key(
        _JVM,
        r"failOnViolation|failsOnError|failOnError|violationSeverity|failOnWarning|abortOnError|warningsAsErrors|allWarningsAsErrors|haltOnFailure|consoleOutput|enabled|isEnabled|active|buildUponDefaultConfig",
        "on",
        _LOOSER,
        "no longer fails",
    ),
    _key(
        _JVM,
        r"maxAllowedViolations|maxIssues|maxWarnings|maxErrors|max|maxFailures|threshold",
        "ceiling",
        _LOOSER,
        "allows more complaints",
    ),
    _key(
        _JVM,
        r"suppress|excludeFilterFile|disable|excludeFilter|suppressionsLocation|ignore",
        "leaves",
        _LOOSER,
        "silences a checker",
    ),
    _key(_JVM, r"module|rule|ref", "rules", _LOOSER, "has fewer rules"),
    _key(_PHP, r"group", "leaves", _FEWER, "runs fewer groups"),
    _key(_PHP, r"directory|file|testsuite|include", "tests", _FEWER, "finds fewer tests"),
    _key(
        _PHP,
        r"exclude|excludeGroups|excludePaths|ignoreErrors|message|ignoreFiles|exclude-pattern|analyse",
        "leaves",
        _LOOSER,
        "leaves more out",
    ),
    _key(_PHP, r"level", "floor", _LOOSER, "asks for less"),
    _key(_PHP, r"errorLevel", "ceiling", _LOOSER, "asks for less"),
    _key(
        _PHP,
        r"failOnRisky|failOnWarning|failOnEmptyTestSuite|failOnSkipped|failOnIncomplete|failOnDeprecation|beStrictAbout\w+|stopOnFailure|check\w+|findUnused\w+|reportUnmatched\w+|treatPhpDocTypesAsCertain",
        "on",
        _LOOSER,
        "is less strict",
    ),
    _key(
        _PYTHON,
        r"(?:ruff|lint|flake8|pylint|isort|bandit)[\w.]*:(?:select|extend-select|enable|load-plugins|enable-extensions|tests)|select|extend-select|enable",
        "rules",
        _LOOSER,
        "has fewer rules",
    ),
    _key(
        _PYTHON,
        r"ignore|extend-ignore|per-file-ignores|extend-per-file-ignores|disable|exclude|extend-exclude|force-exclude|ignore-patterns|ignore-paths|skips|exclude_dirs|disable_error_code|ignored-\w+|[\w./*\[\]-]+\.py|\S*\*\S*|ignore_glob|skip|skip_glob|good-names|reportMissing\w*",
        "leaves",
        _LOOSER,
        "leaves more to itself",
    ),
    _key(
        _PYTHON,
        r"strict\w*|disallow_\w+|check_untyped_defs|warn_\w+|no_implicit_\w+|typeCheckingMode|branch|error-on-warnings?|enable_error_code|extra_checks|show_error_codes",
        "on",
        _LOOSER,
        "is less strict",
    ),
    _key(
        _PYTHON,
        r"ignore_errors|ignore_missing_imports|follow_imports|allow_\w+|implicit_\w+|preview-off|skip_covered_errors|exit[-_]zero|implicit_reexport",
        "off",
        _LOOSER,
        "is less strict",
    ),
    _key(_PYTHON, r"max-\w[\w-]*|max_\w+|line-length|line_length", "ceiling", _LOOSER, "allows more"),
    _key(_PYTHON, r"fail-under|fail_under", "floor", _LOOSER, "asks for less"),
    _key(
        _LINT_JS,
        r"strict\w*|no\w+|exactOptionalPropertyTypes|forceConsistentCasingInFileNames|alwaysStrict|reportUnusedDisableDirectives|useUnknownInCatchVariables|checkJs|enabled|recommended",
        "on",
        _LOOSER,
        "is less strict",
    ),
    _key(
        _LINT_JS,
        r"skipLibCheck|allowUnreachableCode|allowUnusedLabels|suppress\w+|noEmitOnError-off|allowJs-off",
        "off",
        _LOOSER,
        "is less strict",
    ),
    _key(
        _LINT_JS.replace(r"|package\.json", ""),
        r"exclude|ignorePatterns|ignores|ignore|ignoreFiles|excludedFiles|experimentalScannerIgnores",
        "leaves",
        _LOOSER,
        "leaves more out",
    ),
    _key(_LINT_JS.replace(r"|package\.json", ""), r"extends|plugins", "rules", _LOOSER, "has fewer rules"),
    _key(_LINT_JS, r"include|files", "tests", _LOOSER, "checks fewer files"),
    _key(_RUBY, r"Enabled", "on", _LOOSER, "switches a rule off"),
    _key(_RUBY, r"Max|Max\w+|MaxSize", "ceiling", _LOOSER, "allows more"),
    _key(
        _RUBY, r"Exclude|AllowedMethods|AllowedPatterns|IgnoredMethods|add_filter", "leaves", _LOOSER, "leaves more out"
    ),
    _key(_RUBY, r"require|inherit_gem|plugins", "rules", _LOOSER, "has fewer rules"),
    _key(_RUBY, r"pattern|test_files|FileList", "tests", _FEWER, "finds fewer tests"),
    _key(_RUBY, r"DisabledByDefault|SuggestExtensions-off", "off", _LOOSER, "is less strict"),
    _key(_GO, r"enable|enable-only|check-\w+|checks|rules", "rules", _LOOSER, "has fewer rules"),
    _key(
        _GO,
        r"disable|exclude|exclude-\w+|skip-dirs|skip-files|exclusions|excludes|linters|text|path|paths|exclude-rules",
        "leaves",
        _LOOSER,
        "leaves more out",
    ),
    _key(
        _GO,
        r"default|enable-all|check-type-assertions|check-blank|tests|max-issues-per-linter-off|issues-exit-code",
        "on",
        _LOOSER,
        "is less strict",
    ),
    _key(_GO, r"disable-all|exclude-use-default|new|whole-files-off", "off", _LOOSER, "is less strict"),
    _key(
        _GO,
        r"max-\w[\w-]*|min-complexity|line-length|lines|statements|min-len|threshold",
        "ceiling",
        _LOOSER,
        "allows more",
    ),
    _key(
        _RUST,
        r"autotests|(?:lib|test|bin|bench)\w*:(?:test|doctest|harness)|test|doctest",
        "on",
        _FEWER,
        "runs fewer tests",
    ),
    _key(_RUST, r"[\w-]*-threshold|max-\w[\w-]*", "ceiling", _LOOSER, "allows more"),
    _key(_RUST, r"ignore|exclude-files", "leaves", _LOOSER, "leaves more out"),
    _key(_RUST, r"debug-assertions|overflow-checks", "on", _LOOSER, "is less strict"),
    _key(_RUST, r"default-filter", "leaves", _FEWER, "leaves tests out"),
    _key(
        _DOTNET,
        r"TreatWarningsAsErrors|EnforceCodeStyleInBuild|EnableNETAnalyzers|Nullable|AnalysisMode|IsTestProject|RunAnalyzers\w*|MSBuildTreatWarningsAsErrors|failSkips|CollectCoverage",
        "on",
        _LOOSER,
        "is less strict",
    ),
    _key(
        _DOTNET,
        r"NoWarn|WarningsNotAsErrors|DisabledWarnings|ExcludeByFile|ExcludeByAttribute|Exclude|TestCaseFilter",
        "leaves",
        _LOOSER,
        "silences warnings",
    ),
    _key(_DOTNET, r"WarningLevel|AnalysisLevel|Threshold", "floor", _LOOSER, "asks for less"),
    _key(
        _OTHER,
        r"disabled_rules|excluded|exclude|ignore|disabled|skip_list|exclude_paths|sonar\.exclusions|sonar\.coverage\.exclusions|sonar\.test\.exclusions|skip_files|ignored",
        "leaves",
        _LOOSER,
        "leaves more out",
    ),
    _key(
        _OTHER,
        r"opt_in_rules|only_rules|checks|Checks|enabled|add_test|hooks|id|include",
        "rules",
        _LOOSER,
        "has fewer rules",
    ),
    _key(
        _OTHER,
        r"strict|WarningsAsErrors|warnings_as_errors|strict-\w+|fail_ci_if_error",
        "on",
        _LOOSER,
        "is less strict",
    ),
    _key(
        _CI,
        r"paths-ignore|branches-ignore|tags-ignore|exclude|allow_failures|allow_failure|except|skip_commits|ignore",
        "leaves",
        _FEWER,
        "runs in fewer cases",
    ),
    _key(
        _CI, r"on:branches|branches|only|paths|on|types|event|trigger|include", "tests", _FEWER, "runs in fewer cases"
    ),
    _key(
        _CI,
        r"(?:[\w-]*[_-])?(?:versions?|python|node|node_js|go|ruby|rvm|php|java|jdk|rust|toolchain|os|platform|dotnet|django|shard|database|db|browser|tox[_-]?env|TOXENV|runs-on)",
        "tests",
        _FEWER,
        "runs on fewer of its matrix",
    ),
    _key(_CI, r"fail[-_]ci[-_]if[-_]error|error-on-warnings", "on", _LOOSER, "is less strict"),
    _key(
        _CI,
        r"continue-on-error|allow_failure|continueOnError|soft_fail|ignore_failure|failure",
        "off",
        "step_disabled",
        "hides a failure",
    ),
    _key(_CI + "|" + _TASKS, r"image|container", "image", "step_disabled", "runs in another image"),
)
