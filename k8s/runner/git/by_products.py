"""What tools leave behind by themselves, as the `.gitignore` templates that GitHub maintains know it.

Taken from https://github.com/github/gitignore (CC0 1.0) at commit dcc0fc7b, under the names of its files, and only what
nobody writes by hand: `build/`, `dist/`, `lib/`, `*.log`, `*.out`, `.env` and their like may be what was asked for.
"""

PATTERNS = r"""
# Python
__pycache__/
*.py[codz]
*$py.class
.eggs/
*.egg-info/
pip-log.txt
pip-delete-this-directory.txt
htmlcov/
.tox/
.nox/
.coverage
.coverage.*
nosetests.xml
coverage.xml
*.cover
*.py.cover
*.lcov
.hypothesis/
.pytest_cache/
.pybuilder/
target/
.ipynb_checkpoints
.pdm-python
.pdm-build/
__pypackages__/
.venv
venv/
.spyderproject
.spyproject
.ropeproject
.mypy_cache/
.dmypy.json
dmypy.json
.pyre/
.pytype/
cython_debug/
.ruff_cache/
# Node
npm-debug.log*
yarn-debug.log*
yarn-error.log*
lerna-debug.log*
.nyc_output
bower_components
.lock-wscript
node_modules/
jspm_packages/
*.tsbuildinfo
.npm
.eslintcache
.stylelintcache
.node_repl_history
.yarn-integrity
.parcel-cache
.next
.nuxt
.svelte-kit/
.docusaurus
.fusebox/
.dynamodb/
.tern-port
.vscode-test
.pnpm-store
vite.config.js.timestamp-*
vite.config.ts.timestamp-*
.vite/
# Rust
**/*.rs.bk
**/mutants.out*/
rustc-ice-*.txt
# Gradle
.gradle
.gradletasknamecache
# Java
*.class
hs_err_pid*
replay_pid*
# C
*.o
*.ko
*.obj
*.gch
*.pch
*.dSYM/
.tmp_versions/
# CMake
CMakeCache.txt
CMakeFiles
CMakeScripts
cmake_install.cmake
# Ruby
*.rbc
/coverage/
.byebug_history
/.bundle/
# Go
*.coverprofile
profile.cov
# Laravel
.phpunit.result.cache
# community/Strapi
lcov.info
# Global/macOS
.DS_Store
__MACOSX/
.AppleDouble
# Global/Windows
Thumbs.db
ehthumbs.db
*.stackdump
[Dd]esktop.ini
# Global/Linux
*~
.fuse_hidden*
.nfs*
nohup.out
# Global/Vim
[._]*.sw[a-p]
[._]sw[a-p]
.netrwhist
# Global/Emacs
\#*\#
.\#*
*.elc
# Global/JetBrains
.idea/**/workspace.xml
.idea/**/tasks.xml
.idea/**/usage.statistics.xml
.idea/**/shelf
# Global/Agents
.aider.input.history
.aider.chat.history.md
.aider.llm.history
.aider.tags.cache.v*
.claude/*.local.json
.claude/**/*.log
gemini-debug.log
.gemini-clipboard/
"""
