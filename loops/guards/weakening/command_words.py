"""The table of words in commands that run tests and checkers. Pure."""

import re

from loops.guards.recognisers import RUNS_TESTS

# fmt: off
RUNS_CHECKS = re.compile(
    RUNS_TESTS.pattern
    + r"|\b(?:ruff (?:check|format)|ruff\b|flake8|pylint|mypy|pyright|black|isort|bandit|eslint|tsc|prettier|biome (?:check|lint|ci)|stylelint"
    r"|(?:npm|yarn|pnpm|bun) (?:run )?(?:lint|typecheck|type-check|check|format|fmt)\S*|(?:next|ng|nx|turbo) (?:run )?(?:lint|test)|golangci-lint run|go vet|gofmt|staticcheck|govulncheck"
    r"|cargo (?:clippy|fmt|deny|check)|rubocop|standardrb|phpstan|psalm|phpcs|php-cs-fixer|checkstyle\S*|spotless\S*|detekt|ktlint|dotnet format"
    r"|mix (?:credo|format|dialyzer)|swiftlint|shellcheck|hadolint|yamllint|markdownlint\S*|actionlint|pre-commit run|make (?:lint|verify|ci|typecheck|fmt-check)|coverage report|nyc|c8|cypress run"
    r"|ava|tap|deno (?:test|lint|fmt)|bun test|node --test|karma start|behave|robot|prove|tox run|nox -s|mvnw?\b.{0,60}\b(?:test|verify))\b"
)
"""What runs tests or a checker."""
SCRIPT = re.compile(
    r"(?i)\.(?:sh|bash|zsh|ps1|cmd|bat)$|(?:^|/)(?:bin|scripts?|hack|tools?|ci|build)/[^/.]+$|(?:^|/)(?:rakefile|tasks\.py|fabfile\.py|dockerfile[\w.-]*|build\.sh|[\w.-]+\.mk|dodo\.py|lefthook\.ya?ml|composer\.json|deno\.jsonc?|mix\.exs|\.pre-commit-config\.ya?ml|docker-compose[\w.-]*\.ya?ml|earthfile|procfile)$"
)
"""Files that may run checks, besides those that say so by their names."""
STRICT = re.compile(
    r"^(?:--strict\S*|-Werror\S*|-W|error|-D|warnings|--deny\S*|-race|--race|--check\S*|--fail\S*|--cov-fail-under\S*|--max-warnings\S*|--all-targets|--all-features|--workspace"
    r"|--all|--tests|--error-\S+|--frozen\S*|--locked|--immutable|--ci|--forbid-\S+|--diff|--exit-code|--error-exitcode\S*|-e|--recursive|--include-\S+|--coverage\S*|--pedantic"
    r"|--doc|--level\S*|-warnaserror\S*|/warnaserror|--verify-no-changes|--set-exit-if-changed|--fatal-\S+|--warnings-as-errors|--detect-open-handles-off|--runInBand-off|\./\.\.\.|\.)$"
)
"""Options without which a checker asks for less."""
NARROWS = re.compile(
    r"^(?:-k|-t|-g|-f|-i|--testNamePattern\S*|--test-name-pattern\S*|--grep\S*|--fgrep\S*|--invert|--grep-invert\S*|-run\S*|-skip\S*|-short|--short|--lib|--bins?|--exclude\S*"
    r"|-Dtest=\S*|-Dit\.test=\S*|-Dgroups=\S*|-DexcludedGroups=\S*|--tests|--filter\S*|--group\S*|--tag\S*|--exclude-\S+|--skip\S*|--quiet|--exit-zero|--soft\S*|--no-error\S*|--warn-only|--allow-\S+"
    r"|--skipLibCheck|--no-strict\S*|--no-verify|--passWithNoTests|--pass-with-no-tests|--ignore\S*|--deselect\S*|--testPathIgnorePatterns\S*|--testPathPattern\S*|--lf|--last-failed|--onlyChanged|--onlyFailures"
    r"|--changed\S*|--only\S*|--reruns\S*|--retries\S*|--retry\S*|--collect-only|--co|--dry-run|--no-run|--list\S*|--listTests|--help|--version|--if-present|--noconftest|--no-cov\S*|--only-failures"
    r"|--next-failure|-DskipTests\S*|-DskipITs\S*|-Dmaven\.test\S+|-Dcheckstyle\.skip\S*|-x|--exclude-task|--shard\S*|--max-fail\S*-off|--disable\S*|--extend-ignore\S*|--per-file-ignores\S*|--no-warn\S*|--cap-lints\S*"
    r"|-A|--issues-exit-code\S*|--new\S*|--fast|--force-exclude-off|--max-issues\S*-off|--follow-imports\S*|--no-fail\S*|--sw|--stepwise|-fae-off|-fn|--fail-never|--continue|-p:\S*TreatWarnings\S*|--no-restore-off"
    r"|--severity\S*|--fail-level\S*|--only-guide-cops|--auto-gen-config|--memory-limit-off|--generate-baseline\S*|--set-baseline\S*|--baseline\S*|-u|--update\S*|--updateSnapshot|--snapshot-update|--ci=false|-o|-c|--noEmitOnError)$"
)
"""Options with which a tool checks less, or never fails."""
HIDES = re.compile(
    r"\|\|\s*(?:true|:|exit 0|echo\b|/bin/true|return 0|printf\b|\(exit 0\)|cmd /c|ver\b|\w+=)|;\s*(?:true|exit 0|:)\s*[\"')]*\s*$|\|\s*(?:tee|cat|head|tail|grep|sed|awk)\b|&\s*$|^!\s|^-(?=\w)|\bif\b.*;\s*then|2>\s*&1\s*>\s*/dev/null\s*&|>\s*/dev/null\s*2>&1\s*\|\|"
    r"|^(?:\[{1,2}\s|test\s).*(?:&&|\|\|)"
    r"|^\s*(?:echo|printf|:|true|#)\s|\bexec\s+true"
)
"""What stands around a command whose failure ends nothing."""
FORGIVES = re.compile(
    r"^(?:-\s*)?(?:run:\s*)?(?:set \+e\b|set \+o (?:errexit|pipefail)|exit 0\b|return 0\b|trap\b.*(?:exit 0|true)|shell:\s*bash \{0\}|\.IGNORE\b|MAKEFLAGS\s*[+:]?=.*-?i\b|\$ErrorActionPreference\s*=\s*.(?:Silently)?Continue|(?:rc|status|code|result|ret|exit_?code)=0$)",
    re.I,
)
"""Lines after which failures of a script end nothing."""
STRICT_SHELL = re.compile(
    r"^(?:set -\w*[eo]\w*|set -o (?:errexit|pipefail)|#!.*\s-e\b|exit \$\?|exit \"?\$\{?\w+\}?\"?|exit [1-9]\d*|\$ErrorActionPreference\s*=\s*.Stop|return [1-9]|sys\.exit\(\w+|process\.exit\((?:1|code|\w*[cC]ode)|\.DELETE_ON_ERROR|shell:\s*bash$)"
)
"""Lines by which a failure ends a script."""
