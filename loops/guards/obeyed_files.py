"""Files that CI, the forge, an editor, a package manager or an agent finds by their names and does what they say.

Who changes one of them runs code with somebody else's rights: CI's, or those of whoever opens the checkout next. So an
agent does not change them unless the repository says so. Globs as of `loops.guards.globs`; `!` takes out again.
"""

from github.repositories.config import RepositoryConfig
from loops.guards.globs import match_any, matches, names


def _globs(text: str) -> tuple[str, ...]:
    return tuple(text.split())


CI = _globs("""
    .github/** !.github/ISSUE_TEMPLATE/** !.github/PULL_REQUEST_TEMPLATE/** !.github/ISSUE_TEMPLATE.md
    !.github/PULL_REQUEST_TEMPLATE.md !.github/CODE_OF_CONDUCT.md !.github/CONTRIBUTING.md !.github/README.md
    !.github/SECURITY.md !.github/SUPPORT.md action.yml action.yaml .gitea/** .forgejo/** .gitlab/**
    *.gitlab-ci.yml *.gitlab-ci.yaml .circleci/** Jenkinsfile* *.jenkinsfile .jenkins/** .buildkite/**
    buildkite.yml buildkite.yaml *azure-pipelines*.yml *azure-pipelines*.yaml .pipelines/** .azure-pipelines/**
    .azuredevops/** .azure/** .vsts-ci.yml .woodpecker*.yml .woodpecker*.yaml .woodpecker/** .drone.*
    .travis.yml appveyor.yml .appveyor.yml bitbucket-pipelines.yml .semaphore/** .cirrus.* .teamcity/**
    cloudbuild*.yaml cloudbuild*.yml cloudbuild*.json buildspec*.yml buildspec*.yaml .tekton/** .prow.yaml
    .ci-operator.yaml .taskcluster.yml .zuul.yaml .zuul.d/** zuul.d/** .build.yml .builds/** .packit.y*ml
    wercker.yml codeship-*.yml shippable.yml bamboo-specs/** .harness/** netlify.toml vercel.json amplify.yml
    .readthedocs.y*ml *.gocd.y*ml .onedev-buildspec.yml .space.kts codemagic.y*ml bitrise.y*ml ci_scripts/
    .evergreen.y*ml evergreen.y*ml .evergreen/ garnix.yaml screwdriver.yaml buddy.yml .buddy/ .vela.y*ml .vela/
    .agola/ .spacelift/ atlantis.yaml env0.y*ml .platform.app.yaml .platform/ .upsun/ .do/ render.yaml fly.toml
    railway.json railway.toml heroku.yml .goreleaser.y*ml goreleaser.y*ml .releaserc* release.config.*
    release-please-config.json .changeset/config.json
""")
FORGE = _globs("""
    CODEOWNERS dependabot.y*ml renovate.json* .renovaterc* .mergify.yml .mergify/** bors.toml .kodiak.toml
    codecov.y*ml .codecov.y*ml .lfsconfig .gitmodules .git-blame-ignore-revs .dependabot/ .bitbucket/ OWNERS
    OWNERS_ALIASES .pullapprove.y*ml .policy.yml .aviator/ .allstar/ .asf.yaml
""")
SCANNERS = _globs("""
    .codeclimate.y*ml .deepsource.toml .sourcery.y*ml .scrutinizer.yml .hound.yml sonar-project.properties
    .sonarcloud.properties .snyk .trivyignore* trivy.yaml .gitleaks.toml .gitleaksignore .secrets.baseline
    .trufflehog* .ggshield.y*ml .gitguardian.y*ml .semgrepignore .semgrep.y*ml .semgrep/ .grype.y*ml
    .checkov.y*ml .tfsec/ .osv-scanner.toml osv-scanner.toml
""")
HOOKS = _globs("""
    .husky/ .huskyrc* .githooks/ .git-hooks/ .pre-commit-config.y*ml .pre-commit-hooks.yaml prek.toml
    lefthook*.* .lefthook* .config/lefthook* .lefthook/ .overcommit.yml .simple-git-hooks.* simple-git-hooks.*
    .lintstagedrc* lint-staged.config.* .hooks/ .trunk/ hk.pkl captainhook.json grumphp.y*ml .rusty-hook.toml
    .cargo-husky/ husky.config.* .commitlintrc* commitlint.config.* .czrc cog.toml .arcconfig .gitconfig
""")
EDITORS = _globs("""
    .vscode/ *.code-workspace .idea/ .run/ *.run.xml .fleet/ .zed/ .nova/ .theia/ *.sublime-project
    .dir-locals.el .exrc .nvimrc .nvim.lua .vimrc .devcontainer/ .devcontainer.json devfile.yaml .devfile.yaml
    .gitpod.* .replit .codesandbox/ .stackblitzrc .envrc mise.toml .mise.toml mise.*.toml .mise/ .config/mise/**
    .config/mise.toml .vim/ .nvim/ .lvimrc .local.vimrc .lazy.lua .neoconf.json .vimspector.json .helix/
    .dir-locals-2.el .project .externalToolBuilders/ .settings/ nbproject/ .vs/ tasks.vs.json launch.vs.json
    launchSettings.json devbox.json devenv.nix devenv.yaml .flox/ .autoenv*
""")
INTERPRETERS = _globs("""
    sitecustomize.py usercustomize.py .pdbrc .irbrc .pryrc .byebugrc .rspec .ghci .gdbinit .lldbinit .Rprofile
    .Renviron .octaverc .user.ini
""")
AGENTS = _globs("""
    AGENTS.md AGENTS.override.md AGENT.md CLAUDE.md CLAUDE.local.md GEMINI.md QWEN.md CRUSH.md .claude/
    .claude.json .claude-plugin/ .codex/ .opencode/ opencode.json* .opencode.json* .gemini/ .geminiignore .qwen/
    .mcp.json mcp.json .agents/ .agent/ .cursor/ .cursorrules .cursorignore .windsurf/ .windsurfrules
    .clinerules .clinerules/ .roo/ .roomodes .roorules* .kilocode/ .kiro/ .amazonq/ .aiassistant/ .junie/
    .continue/ .aider* .goosehints .goose/ .crush.json crush.json .factory/ .augment/ .augment-guidelines .trae/
    .openhands/ .openhands_instructions .copilot/ .coderabbit.y*ml CODEX.md WARP.md IFLOW.md CODEBUDDY.md
    replit.md .rules .warp/ .amp/ .cline/ .codeium/ .zencoder/ .tabnine/ .cody/ .sourcegraph/ .rovodev/ .qoder/
    .codebuddy/ .iflow/ .vibe/ .kimi/ .crush/ .pi/ .forge/ .antigravity/ .devin/ .codegen/ .serena/ .ruler/
    .rulesync/ rulesync.jsonc .mcp/ mcp_config.json .firebender/ firebender.json .gptme/ gptme.toml .plandex*/
    .sweep.y*ml sweep.y*ml ellipsis.y*ml .greptile/ greptile.json .pr_agent.toml .cubic/ cubic.y*ml .aiexclude
    .aiignore .claudeignore .codeiumignore .cursorindexingignore .rooignore .clineignore .augmentignore
""")
REGISTRIES = _globs("""
    .npmrc .yarnrc .yarnrc.yml **/.yarn/releases/** **/.yarn/plugins/** .pnpmrc .pnpmfile.* bunfig.toml pip.conf
    pip.ini .pypirc .pydistutils.cfg uv.toml .condarc .cargo/ .bundle/ .gemrc .mvn/ **/gradle/wrapper/**
    init.gradle* nuget.config .netrc .curlrc .wgetrc .terraformrc terraform.rc .tofurc .bowerrc .pnp.cjs
    .pnp.loader.mjs .pdm.toml pdm.toml condarc auth.json .swiftpm/ .m2/ .luarocks/ .dockercfg
    .docker/config.json gradlew gradlew.bat mvnw mvnw.cmd .bazelrc .bazeliskrc .bazelversion tools/bazel
    .buckconfig* .plzconfig*
""")
OBEYED = (*CI, *FORGE, *SCANNERS, *HOOKS, *EDITORS, *INTERPRETERS, *AGENTS, *REGISTRIES)


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
