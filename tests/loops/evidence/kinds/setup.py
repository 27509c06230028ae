"""What is configured wrongly, what cannot be installed, and what linters and compilers refuse."""

from tests.loops.evidence.kinds.case import Case, cases

CONFIGURATION = (
    Case("unknown action", "configuration", "", marks=("Unable to resolve action `acme/none`, repository not found",)),
    Case(
        "unknown version of an action",
        "configuration",
        "",
        marks=("Unable to resolve action `actions/checkout@v99`, unable to find version `v99`",),
    ),
    Case(
        "action by a wrong path",
        "configuration",
        "",
        marks=(
            "Can't find 'action.yml', 'action.yaml' or 'Dockerfile' under '/__w/shop/shop/.github/actions/build'. Did you forget to run actions/checkout before running your local action?",
        ),
    ),
    Case(
        "unknown version of a toolchain",
        "configuration",
        "",
        marks=("The version '3.99' with architecture 'x64' was not found for Ubuntu 24.04.",),
    ),
    Case(
        "no lock file to cache by",
        "configuration",
        "",
        marks=(
            "Dependencies lock file is not found in /__w/shop/shop. Supported file patterns: package-lock.json,npm-shrinkwrap.json,yarn.lock",
        ),
    ),
    Case(
        "bad line in the output file",
        "configuration",
        "",
        marks=("Unable to process file command 'output' successfully.", "Invalid format 'bad line'"),
    ),
    Case(
        "bad expression",
        "configuration",
        "",
        marks=("The template is not valid. .github/workflows/ci.yml (Line: 7, Col: 9): Unexpected symbol: '}'",),
    ),
    *cases(
        "configuration",
        (
            "command not found",
            "frobnicate",
            127,
            "/__w/_temp/ab.sh: line 1: frobnicate: command not found",
        ),
        (
            "script not there",
            "./scripts/ci.sh",
            127,
            "/__w/_temp/ab.sh: line 1: ./scripts/ci.sh: No such file or directory",
        ),
        (
            "npm script not there",
            "npm run lnt",
            1,
            'npm error Missing script: "lnt"\nnpm error\nnpm error Did you mean this?\nnpm error   npm run lint # run the "lint" package script',
        ),
        (
            "no package.json",
            "npm test",
            254,
            "npm error code ENOENT\nnpm error syscall open\nnpm error path /__w/shop/shop/package.json\nnpm error errno -2\nnpm error enoent Could not read package.json: Error: ENOENT: no such file or directory, open '/__w/shop/shop/package.json'",
        ),
        ("make has no such rule", "make tset", 2, "make: *** No rule to make target 'tset'.  Stop."),
        (
            "pytest: unknown option",
            "pytest --cov",
            4,
            "ERROR: usage: pytest [options] [file_or_dir] [file_or_dir] [...]\npytest: error: unrecognized arguments: --cov\n  inifile: /__w/shop/shop/pyproject.toml\n  rootdir: /__w/shop/shop",
        ),
        (
            "pytest: file not there",
            "pytest tests/none",
            4,
            "ERROR: file or directory not found: tests/none\n\n============================ no tests ran in 0.01s =============================",
        ),
        ("docker: no such folder", "docker build app", 1, 'ERROR: unable to prepare context: path "app" not found'),
        (
            "docker: no Dockerfile",
            "docker build .",
            1,
            "ERROR: failed to solve: failed to read dockerfile: open Dockerfile: no such file or directory",
        ),
        (
            "terraform: not valid",
            "terraform validate",
            1,
            '╷\n│ Error: Unsupported argument\n│\n│   on main.tf line 3, in resource "aws_s3_bucket" "shop":\n│    3:   buckt = "shop"\n│\n│ An argument named "buckt" is not expected here.\n╵',
        ),
        ("bash: unbound variable", "./deploy.sh", 1, "./deploy.sh: line 3: TARGET: unbound variable"),
    ),
)
DEPENDENCY = cases(
    "dependency",
    (
        "npm: peers conflict",
        "npm ci",
        1,
        "npm error code ERESOLVE\nnpm error ERESOLVE could not resolve\nnpm error\nnpm error While resolving: react-dom@18.2.0\nnpm error Found: react@17.0.2",
    ),
    (
        "npm: lock file out of step",
        "npm ci",
        1,
        "npm error code EUSAGE\nnpm error\nnpm error `npm ci` can only install packages when your package.json and package-lock.json or npm-shrinkwrap.json are in sync. Please update your lock file with `npm install` before continuing.",
    ),
    (
        "npm: no such package",
        "npm i",
        1,
        "npm error code E404\nnpm error 404 Not Found - GET https://registry.npmjs.org/lodahs - Not found",
    ),
    (
        "npm: no such version",
        "npm i",
        1,
        "npm error code ETARGET\nnpm error notarget No matching version found for lodash@99.0.0.",
    ),
    (
        "pip: no such version",
        "pip install -r requirements.txt",
        1,
        "ERROR: Could not find a version that satisfies the requirement numpy==99.0 (from versions: 1.26.4, 2.1.0)\nERROR: No matching distribution found for numpy==99.0",
    ),
    (
        "pip: conflict",
        "pip install -r requirements.txt",
        1,
        "ERROR: Cannot install a and b==2 because these package versions have conflicting dependencies.\n\nThe conflict is caused by:\n    The user requested b==2\n    a 1.0 depends on b<2\nERROR: ResolutionImpossible: for help visit https://pip.pypa.io/en/latest/topics/dependency-resolution/",
    ),
    (
        "poetry: lock file out of step",
        "poetry install",
        1,
        "pyproject.toml changed significantly since poetry.lock was last generated. Run `poetry lock` to fix the lock file.",
    ),
    (
        "uv: lock file out of step",
        "uv sync --locked",
        1,
        "Resolved 9 packages in 3ms\nerror: The lockfile at `uv.lock` needs to be updated, but `--locked` was provided. To update the lockfile, run `uv lock`.",
    ),
    (
        "bundler: gem not found",
        "bundle install",
        7,
        "Could not find gem 'raills' in rubygems repository https://rubygems.org/ or installed locally.",
    ),
    (
        "cargo: no such version",
        "cargo build",
        101,
        'error: failed to select a version for the requirement `serde = "^99"`\ncandidate versions found which didn\'t match: 1.0.210, 1.0.209, ...\nlocation searched: crates.io index\nrequired by package `shop v0.1.0 (/__w/shop/shop)`',
    ),
    (
        "go: missing sum",
        "go build ./...",
        1,
        "main.go:4:2: missing go.sum entry for module providing package golang.org/x/sync/errgroup (imported by github.com/acme/shop); to add:\n\tgo get github.com/acme/shop",
    ),
    (
        "maven: no such artifact",
        "mvn -B package",
        1,
        "[ERROR] Failed to execute goal on project shop: Could not resolve dependencies for project com.acme:shop:jar:1.0: Could not find artifact org.slf4j:slf4j-api:jar:99 in central (https://repo.maven.apache.org/maven2) -> [Help 1]",
    ),
    (
        "gradle: no such artifact",
        "./gradlew build",
        1,
        "* What went wrong:\nExecution failed for task ':compileJava'.\n> Could not resolve all files for configuration ':compileClasspath'.\n   > Could not find com.acme:lib:99.\n     Searched in the following locations:\n       - https://repo.maven.apache.org/maven2/com/acme/lib/99/lib-99.pom",
    ),
    (
        "nuget: no such package",
        "dotnet restore",
        1,
        "/__w/shop/shop/shop.csproj : error NU1101: Unable to find package Acme.Lib. No packages exist with this id in source(s): nuget.org",
    ),
    (
        "composer: cannot be resolved",
        "composer install",
        2,
        "Your requirements could not be resolved to an installable set of packages.\n\n  Problem 1\n    - Root composer.json requires acme/lib ^9, found acme/lib[1.0.0] but it does not match the constraint.",
    ),
    (
        "apt: no such package",
        "sudo apt-get install -y libfoo",
        100,
        "Reading package lists...\nE: Unable to locate package libfoo",
    ),
    (
        "docker: no such image",
        "docker build .",
        1,
        "ERROR: failed to solve: python:3.99: failed to resolve source metadata for docker.io/library/python:3.99: docker.io/library/python:3.99: not found",
    ),
)
LINT = cases(
    "lint",
    (
        "ruff",
        "ruff check .",
        1,
        "shop.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n[*] 1 fixable with the `--fix` option.",
    ),
    (
        "black",
        "black --check .",
        1,
        "would reformat shop.py\n\nOh no! 💥 💔 💥\n1 file would be reformatted, 3 files would be left unchanged.",
    ),
    (
        "eslint",
        "npx eslint .",
        1,
        "/__w/shop/shop/src/a.js\n  1:7  error  'x' is assigned a value but never used  no-unused-vars\n\n✖ 1 problem (1 error, 0 warnings)",
    ),
    (
        "prettier",
        "npx prettier --check .",
        1,
        "Checking formatting...\n[warn] src/a.js\n[warn] Code style issues found in the above file. Run Prettier with --write to fix.",
    ),
    (
        "rubocop",
        "bundle exec rubocop",
        1,
        "Offenses:\n\nshop.rb:1:1: C: [Correctable] Style/FrozenStringLiteralComment: Missing frozen string literal comment.\n\n1 file inspected, 1 offense detected, 1 offense autocorrectable",
    ),
    (
        "cargo fmt",
        "cargo fmt --check",
        1,
        "Diff in /__w/shop/shop/src/main.rs:1:\n-fn main(){}\n+fn main() {}",
    ),
    (
        "pre-commit",
        "pre-commit run --all-files",
        1,
        "trim trailing whitespace.................................................Failed\n- hook id: trailing-whitespace\n- exit code: 1\n- files were modified by this hook\n\nFixing shop.py",
    ),
)
CODE = cases(
    "code",
    ("tsc", "npx tsc", 2, "src/a.ts(3,7): error TS2322: Type 'string' is not assignable to type 'number'."),
    (
        "rustc",
        "cargo build",
        101,
        'error[E0308]: mismatched types\n --> src/main.rs:3:18\n  |\n3 |     let x: u32 = "a";\n  |            ---   ^^^ expected `u32`, found `&str`\n\nerror: could not compile `shop` (bin "shop") due to 1 previous error',
    ),
    (
        "gcc",
        "make",
        2,
        "shop.c: In function 'main':\nshop.c:3:5: error: 'x' undeclared (first use in this function)\nmake: *** [Makefile:2: shop.o] Error 1",
    ),
    (
        "javac by maven",
        "mvn -B package",
        1,
        "[ERROR] COMPILATION ERROR : \n[ERROR] /__w/shop/shop/src/main/java/com/acme/Shop.java:[3,9] cannot find symbol\n[ERROR] Failed to execute goal org.apache.maven.plugins:maven-compiler-plugin:3.11.0:compile (default-compile) on project shop: Compilation failure",
    ),
    ("go build", "go build ./...", 1, "# github.com/acme/shop\n./main.go:7:2: undefined: total"),
    (
        "segmentation fault",
        "./shop",
        139,
        "/__w/_temp/ab.sh: line 1:  2143 Segmentation fault      (core dumped) ./shop",
    ),
    (
        "python",
        "python shop.py",
        1,
        "Traceback (most recent call last):\n  File \"/__w/shop/shop/shop.py\", line 3, in <module>\n    total(None)\nTypeError: 'NoneType' object is not iterable",
    ),
)
CASES = (*CONFIGURATION, *DEPENDENCY, *LINT, *CODE)
