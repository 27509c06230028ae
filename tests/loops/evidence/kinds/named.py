"""What one tool says in its own words, and what only looks like another's."""

from tests.loops.evidence.kinds.case import cases, marks

REPORTED = cases(
    "test",
    (
        "vitest's annotation of a test that fetches",
        "npx vitest run",
        1,
        " FAIL  src/a.test.ts > api > lists\nError: fetch failed: getaddrinfo ENOTFOUND api.shop.test\n Test Files  1 failed (1)\n      Tests  1 failed (1)\n##[error]Error: fetch failed: getaddrinfo ENOTFOUND api.shop.test",
    ),
)
NAMED = (
    *cases(
        "permission",
        (
            "npm, ssh without a key",
            "npm ci",
            128,
            "npm error code 128\nnpm error An unknown git error occurred\nnpm error git@github.com: Permission denied (publickey).\nnpm error fatal: Could not read from remote repository.",
        ),
        (
            "gh, may not open pull requests",
            "gh pr create --fill",
            1,
            "pull request create failed: GraphQL: GitHub Actions is not permitted to create or approve pull requests (createPullRequest)",
        ),
        (
            "npm, may not publish",
            "npm publish",
            1,
            "npm error code E404\nnpm error 404 Not Found - PUT https://registry.npmjs.org/@shop%2fcore - Not found",
        ),
        (
            "semantic-release",
            "npx semantic-release",
            1,
            "[1:06:40 AM] [semantic-release] › ✘  ENOGHTOKEN No GitHub token specified.",
        ),
    ),
    *marks(
        "permission",
        (
            "azure, no client",
            "Login failed with Error: Using auth-type: SERVICE_PRINCIPAL. Not all values are present. Ensure 'client-id' and 'tenant-id' are supplied.",
        ),
    ),
    *marks(
        "configuration",
        (
            "a deprecated action",
            "This request has been automatically failed because it uses a deprecated version of `actions/upload-artifact: v3`.",
        ),
    ),
    *cases(
        "infrastructure",
        (
            "git-lfs, no budget",
            "git lfs pull",
            2,
            "batch response: This repository exceeded its LFS budget. The account responsible for the budget should increase it to restore access.",
        ),
    ),
    *cases(
        "dependency",
        (
            "bun, frozen",
            "bun install --frozen-lockfile",
            1,
            "bun install v1.2.4 (fd9a5ea6)\nerror: lockfile had changes, but lockfile is frozen",
        ),
        (
            "uv, locked",
            "uv sync --locked",
            1,
            "The lockfile at `uv.lock` needs to be updated, but `--locked` was provided.",
        ),
    ),
    *cases(
        "lint",
        (
            "actionlint",
            "actionlint",
            1,
            '.github/workflows/ci.yml:14:9: property "versions" is not defined in object type {version: string} [expression]',
        ),
    ),
    *cases(
        "code",
        (
            "tsc's count",
            "npm run build",
            2,
            "src/api.ts:2:50 - error TS2322: Type 'string' is not assignable.\n\nFound 5 errors in 2 files.",
        ),
        (
            "alembic",
            "alembic upgrade head",
            255,
            "FAILED: Multiple head revisions are present for given argument 'head'; please specify a specific target revision",
        ),
        (
            "what node prints of an object",
            "node build.mjs",
            1,
            "  expected: 'string',\nfile:///__w/shop/shop/env.mjs:41\n\nError: Invalid environment variables\n    at check (file:///__w/shop/shop/env.mjs:41:11)",
        ),
    ),
)
CASES = (*REPORTED, *NAMED)
