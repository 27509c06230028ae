"""What kind of file a path names, for the test guard: tests, expected output, the steps that run tests. Pure."""

import re

_LANGUAGES: dict[str, str] = {
    extension: language
    for language, extensions in {
        "python": "py pyi",
        "javascript": "js jsx ts tsx mjs cjs mts cts vue svelte",
        "go": "go",
        "rust": "rs",
        "jvm": "java kt kts groovy scala",
        "dotnet": "cs fs vb",
        "ruby": "rb",
        "php": "php",
        "elixir": "exs ex",
        "swift": "swift",
        "c": "c cc cpp cxx h hpp hh m mm",
        "dart": "dart",
        "r": "r",
        "shell": "bats sh",
    }.items()
    for extension in extensions.split()
}

INLINE = ("rust",)
"""Languages whose tests stand in the files that they test."""

_FOLDER = re.compile(
    r"(?i)(?:^|/)(?:tests?|__tests__|specs?|e2e|cypress|integration[_-]tests?|unit[_-]tests?|androidTest)/"
)
_NAME = re.compile(
    r"(?:^|/)(?:test_[^/]*\.py|[^/]*_tests?\.[a-z]+|[^/]*[.-](?:test|spec|cy|e2e)\.[cm]?[jt]sx?|[^/]*_spec\.[a-z]+"
    r"|[^/]*(?:Test|Tests|TestCase|IT|Spec|Specs)\.[A-Za-z]+|Test[A-Z][^/]*\.[A-Za-z]+|[^/]*_unittest\.[a-z]+"
    r"|test[-_][^/]*\.[A-Za-z]+|tests?\.[a-z]+|[^/]*\.(?:bats|t))$"
)
_HELPER = re.compile(
    r"(?i)(?:^|/)(?:conftest\.py|__init__\.py|(?:test_?)?(?:helpers?|utils?|fixtures?|factories|setup|support)\.[a-z]+)$"
)
_SNAPSHOT = re.compile(
    r"(?i)(?:^|/)(?:__snapshots__|snapshots|__file_snapshots__|goldens?|approvals?|expected(?:_outputs?)?)/"
    r"|\.(?:snap|snapshot|ambr|golden|approved\.[a-z]+|verified\.[a-z]+|expected|stdout|stderr)$"
)
_STEPS = re.compile(
    r"(?i)^(?:\.github/(?:workflows|actions)/.*\.ya?ml|\.gitlab-ci\.ya?ml|\.gitlab/.*\.ya?ml|\.circleci/.*\.ya?ml"
    r"|\.?azure-pipelines.*\.ya?ml|\.travis\.ya?ml|\.?appveyor\.ya?ml|bitbucket-pipelines\.ya?ml|\.buildkite/.*"
    r"|\.drone\.ya?ml|\.woodpecker.*|\.cirrus\.ya?ml|cloudbuild\.ya?ml|(?:.*/)?jenkinsfile.*|\.?ci/.*|scripts/ci/.*)$"
    r"|(?:^|/)(?:makefile|gnumakefile|justfile|taskfile\.ya?ml|tox\.ini|noxfile\.py|package\.json|pytest\.ini|setup\.cfg"
    r"|pyproject\.toml|(?:jest|vitest|karma|playwright|cypress)\.config\.[cm]?[jt]s|\.mocharc.*|\.rspec|phpunit.*\.xml"
    r"|pom\.xml|build\.gradle(?:\.kts)?|action\.ya?ml|codecov\.ya?ml|\.codecov\.ya?ml|\.coveragerc)$"
)


def language(path: str) -> str | None:
    """The language of a file with code, None for others."""
    name = path.rsplit("/", 1)[-1]
    return _LANGUAGES.get(name.rsplit(".", 1)[-1].lower()) if "." in name else None


def is_test(path: str) -> bool:
    """Whether the file holds tests that a runner would find, not only helpers or data for them."""
    if is_snapshot(path) or language(path) is None or _HELPER.search(path):
        return path.endswith(".t") and not is_snapshot(path)
    return bool(_NAME.search(path) or _FOLDER.search(path))


def helps_tests(path: str) -> bool:
    """Whether the file stands among tests and is none: a helper of them."""
    return language(path) is not None and bool(
        _HELPER.search(path) and (_FOLDER.search(path) or "test" in path.lower())
    )


def holds_tests(path: str) -> bool:
    """Whether tests may stand in the file, be it beside what they test."""
    return is_test(path) or language(path) in INLINE


def named_as_test(path: str) -> bool:
    """Whether the file's own name is one that test runners look for."""
    return language(path) is not None and bool(_NAME.search(path)) and not _HELPER.search(path)


def is_snapshot(path: str) -> bool:
    """Whether the file is output that tests compare with."""
    return bool(_SNAPSHOT.search(path))


def is_step(path: str) -> bool:
    """Whether the file says how the tests are run."""
    return bool(_STEPS.search(path))
