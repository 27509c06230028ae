"""Files that CI, the forge, editors, package managers and agents obey by their names."""

from pathlib import Path

import pytest

from github.repositories.config import RepositoryConfig
from loops.guards.obeyed_files import OBEYED, obeyed, protecting
from tests.loops.guards.proposals import Turn, codes


@pytest.mark.parametrize(
    "path",
    [
        *(
            ".github/workflows/ci.yml",
            ".github/actions/test/action.yml",
            ".github/actions/test/run.sh",
            "ci/action.yaml",
        ),
        *(".GitHub/Workflows/x.yml", ".github/dependabot.yml", ".github/CODEOWNERS", "docs/CODEOWNERS", ".github"),
        *(".github/copilot-instructions.md", ".github/settings.yml", ".gitlab-ci.yml", "ci/build.gitlab-ci.yml"),
        *(
            ".circleci/config.yml",
            "Jenkinsfile",
            "Jenkinsfile.release",
            ".buildkite/pipeline.yml",
            "azure-pipelines.yml",
        ),
        *(".woodpecker.yml", ".woodpecker/test.yaml", ".drone.yml", ".travis.yml", "appveyor.yml", "renovate.json5"),
        *("bitbucket-pipelines.yml", ".husky/pre-commit", "web/.husky/_/husky.sh", ".pre-commit-config.yaml"),
        *(
            "lefthook.yml",
            ".lefthook-local.yml",
            ".vscode/tasks.json",
            "web/.vscode/tasks.json",
            ".idea/runConfigurations/x.xml",
        ),
        *(".devcontainer/devcontainer.json", ".devcontainer.json", ".claude/settings.json", "web/.claude/hooks/x.sh"),
        *(".codex/config.toml", ".opencode/plugin/x.ts", "opencode.jsonc", ".gemini/.env", ".gemini/settings.json"),
        *(".mcp.json", "AGENTS.md", "web/CLAUDE.md", "GEMINI.md", ".cursor/rules/x.mdc", ".lfsconfig", ".npmrc"),
        *(
            "web/.npmrc",
            ".yarnrc.yml",
            ".pnpmfile.cjs",
            "pip.conf",
            "uv.toml",
            ".cargo/config.toml",
            "sub/.cargo/config",
        ),
        *(".vscode./tasks.json", ".npmrc ", ".hus\u200cky/pre-commit", ".GITHUB/workflows. /ci.yml", "Agents.md."),
        *("ci_scripts/ci_post_clone.sh", ".azure-pipelines.yml", "x.gocd.yaml", ".bazelrc", "tools/bazel", "gradlew"),
        *(
            ".goreleaser.yml",
            ".releaserc.json",
            ".trivyignore",
            ".gitleaks.toml",
            ".git-blame-ignore-revs",
            ".asf.yaml",
        ),
        *(
            ".helix/languages.toml",
            ".lazy.lua",
            ".rules",
            "WARP.md",
            ".amp/settings.json",
            ".cline/x",
            ".pdbrc",
            ".trunk/x",
        ),
        *(
            "sitecustomize.py",
            "app/usercustomize.py",
            ".Rprofile",
            "Properties/launchSettings.json",
            ".m2/settings.xml",
        ),
        *(".mvn/extensions.xml", "app/gradle/wrapper/gradle-wrapper.properties", ".envrc", "mise.toml", "NuGet.Config"),
    ],
)
def test_what_something_finds_by_name_and_obeys_is_protected_by_default(path: str) -> None:
    assert obeyed(path)
    assert protecting(path, RepositoryConfig())
    assert protecting(path, RepositoryConfig(protected_paths=["infra/**"])), "more of its own takes nothing away"


@pytest.mark.parametrize(
    "path",
    [
        *("src/action.py", "docs/github/x.md", ".github/ISSUE_TEMPLATE/bug.yml", ".github/pull_request_template.md"),
        *(
            "github/workflows/x.yml",
            "README.md",
            "package.json",
            "Makefile",
            "pyproject.toml",
            ".gitignore",
            ".gitattributes",
        ),
        *("src/rules.py", "owners.md", "fly.py", "gradle.properties", "src/settings.xml", ".changeset/x.md", "warp.py"),
        *("src/agents.py", "docs/agents.rst", "claude/x.py", "src/npmrc.ts", ".editorconfig", "Dockerfile", "husky.md"),
        *(
            "tests/travis.yml.txt",
            "cargo/config.toml",
            "vscode/tasks.json",
            "pip/conf.py",
            "src/codecov.py",
            ".env.example",
        ),
    ],
)
def test_everything_else_is_free(path: str) -> None:
    assert protecting(path, RepositoryConfig()) is None


def test_a_repository_frees_some_all_or_names_one_again() -> None:
    rules = RepositoryConfig(protected_paths=["!AGENTS.md", "!.github/**", ".github/workflows/**"])
    assert protecting("AGENTS.md", rules) is None
    assert protecting(".github/dependabot.yml", rules) is None
    assert protecting(".github/workflows/ci.yml", rules) == ".github/workflows/**"
    assert protecting(".github", rules), "a link in the place of the folder takes the workflows away"
    assert protecting(".npmrc", rules) == ".npmrc"
    assert protecting(".npmrc", RepositoryConfig(protected_paths=[])) is None


def test_each_glob_is_one_of_a_file_that_it_protects() -> None:
    for glob in OBEYED:
        if not glob.startswith("!"):
            path = glob.replace("**/", "a/").replace("y*ml", "yml").replace("*", "x")
            assert obeyed(path + "x" if path.endswith("/") else path), glob


@pytest.mark.parametrize(
    ("path", "line"),
    [
        *(
            (".gitattributes", line)
            for line in ("*.py -diff", "src/** linguist-generated", "/a.js linguist-vendored=true")
        ),
        *(
            (".gitattributes", line)
            for line in ("*.ts binary", "[attr]hide -diff", "src/a.py diff=none", "*.c filter=x")
        ),
        *(("requirements-dev.txt", line) for line in ("--extra-index-url https://e/simple", "-i https://e", "-f ./x")),
        ("web/.gitattributes", "lib.js linguist-documentation"),
        ("requirements/base.in", "--trusted-host e"),
        ("pyproject.toml", "[[tool.uv.index]]"),
        ("pyproject.toml", "extra-index-url = ['https://e']"),
        ("Pipfile", "[[source]]"),
        ("package.json", '  "registry": "https://e"'),
        ("Gemfile", "source 'https://e'"),
        *(
            ("requirements.txt", line)
            for line in ("-ihttps://e", "--index https://e", "--pypi-url=https://e", "--extra x")
        ),
        *(
            ("requirements.txt", line)
            for line in ("-fx", "-r https://e/all.txt", "-chttps://e", "--requirement=http://e")
        ),
        ("pyproject.toml", "uv.index = [{url = 'https://e'}]"),
        ("pyproject.toml", '"index-url" = "https://e"'),
        ("package.json", '{"publishConfig": {"registry": "https://e"}}'),
        ("build.gradle", "repositories { maven { url 'https://e' } }"),
        ("pom.xml", "<project><repositories><repository>"),
        ("composer.json", '"repositories": [{"type": "composer", "url": "https://e"}]'),
        ("build.sbt", 'resolvers += "e" at "https://e"'),
        ("environment.yml", "channels: [https://e]"),
        ("Cargo.toml", 'x = {version = "1", registry = "e"}'),
    ],
)
async def test_lines_that_hide_from_review_or_name_another_registry_are_left_to_people(
    tmp_path: Path, path: str, line: str
) -> None:
    turn = Turn(tmp_path, {path: "# first\n"}, {path: f"# first\n{line}\n"})
    found = await turn.found()
    assert len(codes(found.refusals)) == 1 and set(codes(found.refusals)) <= {"hidden_from_review", "registry"}
    assert "Line 2" in found.refusals[0].text and "protected_paths" in found.refusals[0].text
    assert (await turn.found(config=RepositoryConfig(protected_paths=[f"!{path}"]))).publishable


@pytest.mark.parametrize(
    ("path", "before", "after"),
    [
        (
            ".gitattributes",
            "",
            "*.sh text eol=lf\n*.png binary\n# *.py -diff\n*.psd filter=lfs diff=lfs merge=lfs -text\n",
        ),
        (".gitattributes", "*.py -diff\n", "*.py -diff\n* text=auto\nlib linguist-generated=false\n"),
        ("requirements.txt", "-i https://e\nattrs\n", "-i https://e\nattrs==26.1\nindex-url-parser\n"),
        ("pyproject.toml", "[project]\n", "[project]\nname = 'index'\ndependencies = ['pip-index-url']\n"),
        ("package.json", "{}", '{"dependencies": {"registry": "1.0", "b": "^2"}}'),
        ("requirements.txt", "a\n", "a\n-r base.txt\n-c constraints.txt\n-e .\n--no-binary x\n"),
        ("build.gradle", "\n", "\nrepositories { mavenCentral() }\nimplementation('maven:maven:1')\n"),
        ("Cargo.toml", "[package]\n", "[package]\nregistry-client = '1'\n"),
    ],
)
async def test_ordinary_lines_of_such_files_are_free(tmp_path: Path, path: str, before: str, after: str) -> None:
    assert (await Turn(tmp_path, {path: before}, {path: after}).found()).publishable
