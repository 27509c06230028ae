"""Files that CI, the forge, an editor, a package manager or an agent finds by their names and does what they say.

Who changes one of them runs code with somebody else's rights: CI's, or those of whoever opens the checkout next. So an
agent does not change them unless the repository says so. Globs as of `loops.guards.globs`; `!` takes out again.
"""

from github.repositories.config import RepositoryConfig
from loops.guards.globs import match_any, matches, names

CI = (
    ".github/**",
    "!.github/ISSUE_TEMPLATE/**",
    "!.github/PULL_REQUEST_TEMPLATE/**",
    "!.github/ISSUE_TEMPLATE.md",
    "!.github/PULL_REQUEST_TEMPLATE.md",
    "!.github/CODE_OF_CONDUCT.md",
    "!.github/CONTRIBUTING.md",
    "!.github/README.md",
    "!.github/SECURITY.md",
    "!.github/SUPPORT.md",
    "action.yml",
    "action.yaml",
    ".gitea/**",
    ".forgejo/**",
    ".gitlab/**",
    "*.gitlab-ci.yml",
    "*.gitlab-ci.yaml",
    ".circleci/**",
    "Jenkinsfile*",
    "*.jenkinsfile",
    ".jenkins/**",
    ".buildkite/**",
    "buildkite.yml",
    "buildkite.yaml",
    "azure-pipelines*.yml",
    "azure-pipelines*.yaml",
    ".azure-pipelines/**",
    ".azuredevops/**",
    ".azure/**",
    ".vsts-ci.yml",
    ".woodpecker*.yml",
    ".woodpecker*.yaml",
    ".woodpecker/**",
    ".drone.*",
    ".travis.yml",
    "appveyor.yml",
    ".appveyor.yml",
    "bitbucket-pipelines.yml",
    ".semaphore/**",
    ".cirrus.*",
    ".teamcity/**",
    "cloudbuild*.yaml",
    "cloudbuild*.yml",
    "cloudbuild*.json",
    "buildspec*.yml",
    "buildspec*.yaml",
    ".tekton/**",
    ".prow.yaml",
    ".ci-operator.yaml",
    ".taskcluster.yml",
    ".zuul.yaml",
    ".zuul.d/**",
    "zuul.d/**",
    ".build.yml",
    ".builds/**",
    ".packit.y*ml",
    "wercker.yml",
    "codeship-*.yml",
    "shippable.yml",
    "bamboo-specs/**",
    ".harness/**",
    "netlify.toml",
    "vercel.json",
    "amplify.yml",
    ".readthedocs.y*ml",
)
FORGE = (
    "CODEOWNERS",
    "dependabot.y*ml",
    "renovate.json*",
    ".renovaterc*",
    ".mergify.yml",
    ".mergify/**",
    "bors.toml",
    ".kodiak.toml",
    "codecov.y*ml",
    ".codecov.y*ml",
    ".lfsconfig",
    ".gitmodules",
)
HOOKS = (
    ".husky/",
    ".huskyrc*",
    ".githooks/",
    ".git-hooks/",
    ".pre-commit-config.y*ml",
    ".pre-commit-hooks.yaml",
    "prek.toml",
    "lefthook*.*",
    ".lefthook*",
    ".config/lefthook*",
    ".lefthook/",
    ".overcommit.yml",
    ".simple-git-hooks.*",
    "simple-git-hooks.*",
    ".lintstagedrc*",
    "lint-staged.config.*",
)
EDITORS = (
    ".vscode/",
    "*.code-workspace",
    ".idea/",
    ".run/",
    "*.run.xml",
    ".fleet/",
    ".zed/",
    ".nova/",
    ".theia/",
    "*.sublime-project",
    ".dir-locals.el",
    ".exrc",
    ".nvimrc",
    ".nvim.lua",
    ".vimrc",
    ".devcontainer/",
    ".devcontainer.json",
    "devfile.yaml",
    ".devfile.yaml",
    ".gitpod.*",
    ".replit",
    ".codesandbox/",
    ".stackblitzrc",
    ".envrc",
    "mise.toml",
    ".mise.toml",
    "mise.*.toml",
    ".mise/",
    ".config/mise/**",
    ".config/mise.toml",
)
AGENTS = (
    "AGENTS.md",
    "AGENTS.override.md",
    "AGENT.md",
    "CLAUDE.md",
    "CLAUDE.local.md",
    "GEMINI.md",
    "QWEN.md",
    "CRUSH.md",
    ".claude/",
    ".claude.json",
    ".claude-plugin/",
    ".codex/",
    ".opencode/",
    "opencode.json*",
    ".opencode.json*",
    ".gemini/",
    ".geminiignore",
    ".qwen/",
    ".mcp.json",
    "mcp.json",
    ".agents/",
    ".agent/",
    ".cursor/",
    ".cursorrules",
    ".cursorignore",
    ".windsurf/",
    ".windsurfrules",
    ".clinerules",
    ".clinerules/",
    ".roo/",
    ".roomodes",
    ".roorules*",
    ".kilocode/",
    ".kiro/",
    ".amazonq/",
    ".aiassistant/",
    ".junie/",
    ".continue/",
    ".aider*",
    ".goosehints",
    ".goose/",
    ".crush.json",
    "crush.json",
    ".factory/",
    ".augment/",
    ".augment-guidelines",
    ".trae/",
    ".openhands/",
    ".openhands_instructions",
    ".copilot/",
    ".coderabbit.y*ml",
)
REGISTRIES = (
    ".npmrc",
    ".yarnrc",
    ".yarnrc.yml",
    "**/.yarn/releases/**",
    "**/.yarn/plugins/**",
    ".pnpmrc",
    ".pnpmfile.*",
    "bunfig.toml",
    "pip.conf",
    "pip.ini",
    ".pypirc",
    ".pydistutils.cfg",
    "uv.toml",
    ".condarc",
    ".cargo/",
    ".bundle/",
    ".gemrc",
    ".mvn/",
    "**/gradle/wrapper/**",
    "init.gradle*",
    "nuget.config",
    ".netrc",
    ".curlrc",
    ".wgetrc",
    ".terraformrc",
)
OBEYED = (*CI, *FORGE, *HOOKS, *EDITORS, *AGENTS, *REGISTRIES)


def obeyed(path: str) -> str | None:
    """The glob by which something finds `path` and obeys it."""
    return _last_word(path, OBEYED)


def protecting(path: str, config: RepositoryConfig) -> str | None:
    """The glob that protects `path` from an agent: of the repository's own, else of OBEYED.

    A repository takes out what agents may change with `!glob`, and all of it with an empty list.
    """
    own = config.protected_paths
    return _last_word(path, (*OBEYED, *own)) if own else None


def freed(path: str, config: RepositoryConfig) -> bool:
    """Whether the repository lets agents change that file whatever it says."""
    own = config.protected_paths
    return not own or any(glob.startswith("!") and names(path, glob[1:]) for glob in own)


def _last_word(path: str, globs: tuple[str, ...]) -> str | None:
    """The glob that decides: what is taken out is free unless a later glob names it again."""
    if not match_any(path, tuple(glob for glob in globs if not glob.startswith("!"))):
        return None
    for glob in reversed(globs):
        free = glob.startswith("!")
        if names(path, glob[1:]) if free else matches(path, glob):
            return None if free else glob
    return None
