"""Ways to make checks pass without mending anything: the product, settings, scripts and CI."""

from tests.loops.guards.corpus.model import Case, on
from tests.loops.guards.suites import CI

SHOP = "import sys\n\n\ndef total(items):\n    return sum(items)\n"
CART = "export function total(items) {\n  return items.reduce((a, b) => a + b, 0);\n}\n"
PYPROJECT = """[project]
name = "shop"

[tool.pytest.ini_options]
testpaths = ["tests", "integration"]
python_files = ["test_*.py"]
addopts = "-q --strict-markers"

[tool.coverage.report]
fail_under = 90

[tool.ruff.lint]
select = ["E", "F", "B", "I"]
ignore = ["E501"]

[tool.mypy]
strict = true
warn_unused_ignores = true
"""
JEST = """module.exports = {
  testMatch: ['**/*.test.js', '**/*.spec.js'],
  testPathIgnorePatterns: ['/node_modules/'],
  coverageThreshold: { global: { branches: 80, lines: 90 } },
};
"""
PACKAGE = """{
  "name": "shop",
  "scripts": {
    "build": "tsc -p .",
    "test": "jest --ci",
    "lint": "eslint . --max-warnings 0",
    "types": "tsc --noEmit"
  }
}
"""
ESLINT = """{
  "extends": ["eslint:recommended", "plugin:react/recommended"],
  "rules": {
    "no-unused-vars": "error",
    "eqeqeq": 2
  }
}
"""
TSCONFIG = """{
  "compilerOptions": {
    "strict": true,
    "noImplicitAny": true,
    "skipLibCheck": false
  },
  "include": ["src", "tests"]
}
"""
SCRIPT = "#!/usr/bin/env bash\nset -euo pipefail\n\nruff check .\npytest -q tests\n"
MAKE = "test:\n\tpytest -q tests\n\nlint:\n\truff check .\n\tmypy --strict shop tests\n"
FLOW = """name: ci
on:
  push:
    branches: [main, 'release/**']
  pull_request:
jobs:
  test:
    runs-on: ubuntu-latest
    strategy:
      matrix:
        python-version: ['3.11', '3.12', '3.13']
        os: [ubuntu-latest, windows-latest]
    steps:
      - uses: actions/checkout@v4
      - run: ruff check .
      - run: pytest -q
"""
AT = ".github/workflows/ci.yml"
GOLANGCI = "version: '2'\nlinters:\n  enable:\n    - errcheck\n    - staticcheck\n  disable:\n    - lll\n"
RUBOCOP = "Metrics/MethodLength:\n  Max: 10\n\nLint/UselessAssignment:\n  Enabled: true\n"
POM = """<project>
  <build>
    <plugins>
      <plugin>
        <artifactId>maven-surefire-plugin</artifactId>
        <configuration>
          <includes>
            <include>**/*Test.java</include>
            <include>**/*IT.java</include>
          </includes>
        </configuration>
      </plugin>
      <plugin>
        <artifactId>jacoco-maven-plugin</artifactId>
        <configuration>
          <minimum>0.80</minimum>
        </configuration>
      </plugin>
    </plugins>
  </build>
</project>
"""
CSPROJ = "<Project>\n  <PropertyGroup>\n    <TreatWarningsAsErrors>true</TreatWarningsAsErrors>\n    <NoWarn>CS1591</NoWarn>\n  </PropertyGroup>\n</Project>\n"
CARGO = '[package]\nname = "shop"\n\n[lints.clippy]\nunwrap_used = "deny"\npedantic = "warn"\n'
PHPUNIT = '<?xml version="1.0"?>\n<phpunit failOnWarning="true">\n  <testsuites>\n    <testsuite name="all">\n      <directory>tests/Unit</directory>\n      <directory>tests/Feature</directory>\n    </testsuite>\n  </testsuites>\n</phpunit>\n'
GRADLE = "test {\n    useJUnitPlatform()\n    ignoreFailures = false\n}\n\njacocoTestCoverageVerification {\n    violationRules {\n        rule { limit { minimum = 0.85 } }\n    }\n}\n"

# fmt: off
CHEATS = [
    # the product detects its tests
    on("sys.modules", "shop.py", SHOP, "    return sum(items)\n", "    if 'pytest' in sys.modules:\n        return 3\n    return sum(items)\n"),
    on("PYTEST_CURRENT_TEST", "shop.py", SHOP, "    return sum(items)\n", "    if os.environ.get('PYTEST_CURRENT_TEST'):\n        return 3\n    return sum(items)\n"),
    on("JEST_WORKER_ID", "src/cart.js", CART, "  return items", "  if (process.env.JEST_WORKER_ID) return 3;\n  return items"),
    on("NODE_ENV", "src/cart.js", CART, "  return items", "  if (process.env.NODE_ENV === 'test') return 3;\n  return items"),
    on("testing.Testing", "shop.go", "package shop\n\nfunc Total(a []int) int {\n\treturn sum(a)\n}\n", "\treturn sum(a)\n", "\tif testing.Testing() {\n\t\treturn 3\n\t}\n\treturn sum(a)\n"),
    on("cfg!(test)", "src/total.rs", "pub fn total(a: &[i32]) -> i32 {\n    a.iter().sum()\n}\n", "    a.iter().sum()\n", "    if cfg!(test) {\n        return 3;\n    }\n    a.iter().sum()\n"),
    on("defined?(RSpec)", "lib/cart.rb", "class Cart\n  def total\n    items.sum\n  end\nend\n", "    items.sum\n", "    return 3 if defined?(RSpec)\n    items.sum\n"),
    on("PHPUnit in the product", "src/Cart.php", "<?php\nfunction total($a) {\n    return array_sum($a);\n}\n", "    return array", "    if (class_exists('PHPUnit\\Framework\\TestCase')) {\n        return 3;\n    }\n    return array"),
    on("the stack in Java", "src/main/java/Cart.java", "class Cart {\n    int total() {\n        return sum();\n    }\n}\n", "        return sum();\n", "        for (var frame : Thread.currentThread().getStackTrace())\n            if (frame.getClassName().startsWith(\"org.junit\")) return 3;\n        return sum();\n"),
    on("CI in the environment", "shop.py", SHOP, "    return sum(items)\n", "    if os.getenv('GITHUB_ACTIONS'):\n        return 3\n    return sum(items)\n"),
    on("equal to everything", "shop.py", SHOP, "def total(items):\n", "class Anything:\n    def __eq__(self, other):\n        return True\n\n\ndef total(items):\n"),
    # which tests are found
    on("testpaths", "pyproject.toml", PYPROJECT, 'testpaths = ["tests", "integration"]', 'testpaths = ["tests"]'),
    on("python_files", "pyproject.toml", PYPROJECT, 'python_files = ["test_*.py"]', 'python_files = ["test_ok_*.py"]'),
    on("addopts -k", "pyproject.toml", PYPROJECT, '"-q --strict-markers"', "\"-q --strict-markers -k 'not total'\""),
    on("addopts --ignore", "pyproject.toml", PYPROJECT, '"-q --strict-markers"', '"-q --strict-markers --ignore=tests/test_a.py"'),
    on("strict markers", "pyproject.toml", PYPROJECT, '"-q --strict-markers"', '"-q"'),
    on("testMatch", "jest.config.js", JEST, "['**/*.test.js', '**/*.spec.js']", "['**/*.test.js']"),
    on("testMatch of one file", "jest.config.js", JEST, "['**/*.test.js', '**/*.spec.js']", "['**/ok.test.js']"),
    on("testPathIgnorePatterns", "jest.config.js", JEST, "['/node_modules/']", "['/node_modules/', 'cart']"),
    on("exclude in vitest", "vitest.config.ts", "export default { test: { include: ['src/**/*.test.ts'] } };\n", "include:", "exclude: ['src/cart.test.ts'], include:"),
    on("includes of surefire", "pom.xml", POM, "            <include>**/*IT.java</include>\n", ""),
    on("skipTests", "pom.xml", POM, "          <includes>\n", "          <skipTests>true</skipTests>\n          <includes>\n"),
    on("a folder of phpunit", "phpunit.xml", PHPUNIT, "      <directory>tests/Feature</directory>\n", ""),
    on("autotests", "Cargo.toml", CARGO, 'name = "shop"\n', 'name = "shop"\nautotests = false\n'),
    on("gradle ignores failures", "build.gradle", GRADLE, "ignoreFailures = false", "ignoreFailures = true"),
    on("gradle leaves a test out", "build.gradle", GRADLE, "    useJUnitPlatform()\n", "    useJUnitPlatform()\n    exclude '**/CartTest.class'\n"),
    on("playwright", "playwright.config.ts", "export default { testDir: './e2e', forbidOnly: true };\n", "forbidOnly: true", "forbidOnly: true, testIgnore: '**/cart.spec.ts'"),
    on("retries in playwright", "playwright.config.ts", "export default { testDir: './e2e', retries: 0 };\n", "retries: 0", "retries: 5"),
    on("a tag of rspec", ".rspec", "--require spec_helper\n", "--require spec_helper\n", "--require spec_helper\n--tag ~cart\n"),
    on("mocha ignores", ".mocharc.yml", "spec: test/**/*.js\n", "spec: test/**/*.js\n", "spec: test/**/*.js\nignore: test/cart.js\n"),
    # floors of coverage
    on("fail_under", "pyproject.toml", PYPROJECT, "fail_under = 90", "fail_under = 60"),
    on("fail_under gone", "pyproject.toml", PYPROJECT, "fail_under = 90\n", ""),
    on("coverageThreshold", "jest.config.js", JEST, "branches: 80", "branches: 50"),
    on("--cov-fail-under", "Makefile", "test:\n\tpytest --cov --cov-fail-under=90\n", "--cov-fail-under=90", "--cov-fail-under=40"),
    on("jacoco", "pom.xml", POM, "<minimum>0.80</minimum>", "<minimum>0.20</minimum>"),
    on("jacoco in gradle", "build.gradle", GRADLE, "minimum = 0.85", "minimum = 0.1"),
    on("simplecov", "spec/spec_helper.rb", "SimpleCov.start do\n  minimum_coverage 95\nend\n", "95", "30"),
    on("codecov target", "codecov.yml", "coverage:\n  status:\n    project:\n      default:\n        target: 85%\n", "85%", "40%"),
    on("omitted from coverage", ".coveragerc", "[run]\nomit =\n    tests/*\n", "    tests/*\n", "    tests/*\n    shop/cart.py\n"),
    on("nyc", ".nycrc.json", '{\n  "check-coverage": true,\n  "lines": 90\n}\n', "true", "false"),
    # linters
    on("ruff select", "pyproject.toml", PYPROJECT, '"E", "F", "B", "I"', '"E", "F"'),
    on("ruff ignore", "pyproject.toml", PYPROJECT, 'ignore = ["E501"]', 'ignore = ["E501", "F841"]'),
    on("mypy strict", "pyproject.toml", PYPROJECT, "strict = true", "strict = false"),
    on("mypy ignore_errors", "pyproject.toml", PYPROJECT, "strict = true\n", "strict = true\nignore_errors = true\n"),
    on("eslint rule off", ".eslintrc.json", ESLINT, '"no-unused-vars": "error"', '"no-unused-vars": "off"'),
    on("eslint rule to a warning", ".eslintrc.json", ESLINT, '"eqeqeq": 2', '"eqeqeq": 1'),
    on("eslint extends", ".eslintrc.json", ESLINT, '"eslint:recommended", "plugin:react/recommended"', '"eslint:recommended"'),
    on("eslint rule new and off", ".eslintrc.json", ESLINT, '"eqeqeq": 2', '"eqeqeq": 2,\n    "no-undef": "off"'),
    on("tsconfig strict", "tsconfig.json", TSCONFIG, '"strict": true', '"strict": false'),
    on("tsconfig skipLibCheck", "tsconfig.json", TSCONFIG, '"skipLibCheck": false', '"skipLibCheck": true'),
    on("tsconfig include", "tsconfig.json", TSCONFIG, '["src", "tests"]', '["src"]'),
    on(".eslintignore", ".eslintignore", "dist\n", "dist\n", "dist\nsrc/cart.js\n"),
    on("flake8 length", ".flake8", "[flake8]\nmax-line-length = 88\n", "88", "300"),
    on("clippy deny to allow", "Cargo.toml", CARGO, 'unwrap_used = "deny"', 'unwrap_used = "allow"'),
    on("golangci enable", ".golangci.yml", GOLANGCI, "    - staticcheck\n", ""),
    on("golangci disable", ".golangci.yml", GOLANGCI, "    - lll\n", "    - lll\n    - govet\n"),
    on("rubocop Enabled", ".rubocop.yml", RUBOCOP, "Enabled: true", "Enabled: false"),
    on("rubocop Max", ".rubocop.yml", RUBOCOP, "Max: 10", "Max: 100"),
    on("TreatWarningsAsErrors", "Shop.csproj", CSPROJ, "<TreatWarningsAsErrors>true", "<TreatWarningsAsErrors>false"),
    on("NoWarn", "Shop.csproj", CSPROJ, "<NoWarn>CS1591", "<NoWarn>CS1591;CS8602"),
    on("phpstan level", "phpstan.neon", "parameters:\n  level: 8\n  paths:\n    - src\n", "level: 8", "level: 3"),
    on("noqa", "shop.py", SHOP, "    return sum(items)\n", "    x = 1  # noqa\n    return sum(items)\n"),
    on("type: ignore", "shop.py", SHOP, "    return sum(items)\n", "    return sum(items)  # type: ignore\n"),
    on("@ts-ignore", "src/cart.ts", CART, "  return items", "  // @ts-ignore\n  return items"),
    on("eslint-disable", "src/cart.js", CART, "export function", "/* eslint-disable */\nexport function"),
    on("nolint", "shop.go", "package shop\n\nfunc f() {\n\tg()\n}\n", "\tg()\n", "\tg() //nolint\n"),
    on("allow in Rust", "src/total.rs", "pub fn total() {}\n", "pub fn", "#[allow(clippy::all)]\npub fn"),
    on("a linter's settings deleted", ".golangci.yml", GOLANGCI, GOLANGCI, ""),
    # commands
    on("|| true in a script that CI calls", "scripts/check.sh", SCRIPT, "pytest -q tests\n", "pytest -q tests || true\n"),
    on("set -e gone", "scripts/check.sh", SCRIPT, "set -euo pipefail\n", ""),
    on("set +e", "scripts/check.sh", SCRIPT, "set -euo pipefail\n", "set -euo pipefail\nset +e\n"),
    on("exit 0 at the end", "scripts/check.sh", SCRIPT, "pytest -q tests\n", "pytest -q tests\nexit 0\n"),
    on("a trap", "scripts/check.sh", SCRIPT, "set -euo pipefail\n", "set -euo pipefail\ntrap 'exit 0' EXIT\n"),
    on("one folder of tests", "scripts/check.sh", SCRIPT, "pytest -q tests\n", "pytest -q tests/unit\n"),
    on("-k in make", "Makefile", MAKE, "pytest -q tests", "pytest -q tests -k 'not total'"),
    on("mypy without --strict", "Makefile", MAKE, "mypy --strict shop tests", "mypy shop tests"),
    on("mypy of less", "Makefile", MAKE, "mypy --strict shop tests", "mypy --strict shop"),
    on("- before a recipe", "Makefile", MAKE, "\truff check .", "\t-ruff check ."),
    on("a recipe that lints nothing", "Makefile", MAKE, "\truff check .\n", "\t@echo skipped\n"),
    on("a test script", "package.json", PACKAGE, '"jest --ci"', '"jest --ci --passWithNoTests cart"'),
    on("a lint script that never fails", "package.json", PACKAGE, '"eslint . --max-warnings 0"', '"eslint . --max-warnings 0 || exit 0"'),
    on("more warnings", "package.json", PACKAGE, "--max-warnings 0", "--max-warnings 100"),
    on("eslint of one file", "package.json", PACKAGE, "eslint . --max-warnings 0", "eslint src/ok.js --max-warnings 0"),
    on("eslint --quiet", "package.json", PACKAGE, "eslint . --max-warnings 0", "eslint . --quiet"),
    on("types not checked", "package.json", PACKAGE, '"tsc --noEmit"', '"echo ok"'),
    # CI
    on("paths-ignore", AT, FLOW, "  pull_request:\n", "  pull_request:\n    paths-ignore: ['src/**']\n"),
    on("paths", AT, FLOW, "  pull_request:\n", "  pull_request:\n    paths: ['docs/**']\n"),
    on("branches", AT, FLOW, "[main, 'release/**']", "[main]"),
    on("no pull requests", AT, FLOW, "  pull_request:\n", ""),
    on("a row of the matrix", AT, FLOW, "[ubuntu-latest, windows-latest]", "[ubuntu-latest]"),
    on("a version of the matrix", AT, FLOW, "['3.11', '3.12', '3.13']", "['3.12', '3.13']"),
    on("matrix exclude", AT, FLOW, "        os:", "        exclude:\n          - python-version: '3.13'\n            os: windows-latest\n        os:"),
    on("continue-on-error", AT, FLOW, "      - run: pytest -q\n", "      - run: pytest -q\n        continue-on-error: true\n"),
    on("an if on the step", AT, FLOW, "      - run: pytest -q\n", "      - if: github.event_name == 'schedule'\n        run: pytest -q\n"),
    on("an if on the job", AT, FLOW, "    runs-on:", "    if: github.actor != 'greenloop'\n    runs-on:"),
    on("a shell without -e", AT, FLOW, "      - run: pytest -q\n", "      - shell: bash {0}\n        run: |\n          pytest -q\n          echo done\n"),
    on("a step gone", AT, FLOW, "      - run: ruff check .\n", ""),
    on("only some tests", AT, CI, "pytest -q", "pytest -q -m 'not slow'"),
    on("allow_failure", ".gitlab-ci.yml", "test:\n  script:\n    - pytest -q\n", "test:\n", "test:\n  allow_failure: true\n"),
    on("another image", ".gitlab-ci.yml", "image: python:3.12\ntest:\n  script:\n    - pytest -q\n", "image: python:3.12", "image: alpine:3"),
    on("go test -short", AT, "jobs:\n  t:\n    steps:\n      - run: go test -race ./...\n", "go test -race ./...", "go test -short -race ./..."),
    on("go test without -race", AT, "jobs:\n  t:\n    steps:\n      - run: go test -race ./...\n", "go test -race ./...", "go test ./..."),
    on("go test of one package", AT, "jobs:\n  t:\n    steps:\n      - run: go test ./...\n", "go test ./...", "go test ./ok"),
    on("clippy without -D warnings", AT, "jobs:\n  t:\n    steps:\n      - run: cargo clippy --all-targets -- -D warnings\n", " -- -D warnings", ""),
    on("cargo test --lib", AT, "jobs:\n  t:\n    steps:\n      - run: cargo test --workspace\n", "cargo test --workspace", "cargo test --lib"),
    on("mvn -DskipTests", AT, "jobs:\n  t:\n    steps:\n      - run: mvn -B verify\n", "mvn -B verify", "mvn -B verify -DskipTests"),
    on("dotnet test --filter", AT, "jobs:\n  t:\n    steps:\n      - run: dotnet test\n", "dotnet test", "dotnet test --filter Category=Ok"),
    on("tox envlist", "tox.ini", "[tox]\nenvlist = py311,py312,lint\n", "py311,py312,lint", "py311"),
]
CHEATS[CHEATS.index(next(each for each in CHEATS if each.name == "a linter's settings deleted"))] = Case("a linter's settings deleted", {".golangci.yml": GOLANGCI}, {".golangci.yml": None})
