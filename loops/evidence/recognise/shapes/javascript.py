"""jest, vitest, mocha, node's test runner, playwright; tsc, eslint, prettier, biome; bundlers."""

from loops.evidence.recognise.shapes.shape import Shape

JS = r"[^\s:()]+\.(?:[cm]?[jt]sx?|vue|svelte|astro|css|scss|less|json|md|mdx|ya?ml|html|graphql)"

# fmt: off
SHAPES = (
    # jest, and vitest where it prints alike
    Shape("jest", "noise", r"\s*● Console$", until=r"\s*● |(?:FAIL|PASS) |Test Suites: "),
    Shape("vitest", "noise", r"(?:stderr|stdout) \| \S+\.[cm]?[jt]sx?\b.*", until=r"$|\s*(?:FAIL|✓|❯|×) "),
    Shape("jest", "title", r"\s*(?:❌ )?FAIL +(?!.* > )(?:\S+ )?(?P<file>" + JS + r")(?: .*)?$", "test", worth=72),
    Shape("jest", "error", r"\s*(?:● )?(?:Test suite failed to run|Your test suite must contain at least one test).*", "test", after=4),
    Shape("jest", "test", r"\s*● (?P<test>\S.*)$", "test", after=2, needs="FAIL "),
    # a sign of multiplication is what others draw for a cross before anything
    Shape("jest", "test", r"\s+(?:[✕✗✘]|×(?=.* \(?\d+ ?m?s\)?$)) (?P<test>\S.*?)(?: \(?\d+ ?m?s\)?)?$", "test", worth=64),
    Shape("jest", "test", r"\s+× (?P<test>\S.*)$", "test", worth=64, needs="Tests: "),
    Shape("jest", "detail", r"\s+expect\(.*\).*", "test"),
    Shape("jest", "detail", r"\s*(?:Expected|Received|Difference|Snapshot name|[-+] Expected|[-+] Received|Error name|Thrown)\b.*[:+-].*", "test", worth=78, after=2),
    Shape("jest", "detail", r"\s{4,}[-+] {2,}\S.*", "test", needs="+ Received", worth=66),
    Shape("vitest", "detail", r"[-+] +\S.*", "test", needs="+ Received", worth=66),
    Shape("jest", "error", r"\s*Jest: .*(?:coverage|threshold).*", "test"),
    Shape("jest", "error", r"No tests? (?:files? )?found\b.*", "configuration", worth=86, after=4),
    Shape("jest", "error", r"\s+(?:thrown: |Exceeded timeout of).*", "test"),
    Shape("jest", "source", r"\s*> *\d+ \|.*", worth=60, before=3, after=2),
    Shape("jest", "summary", r"(?:Test Suites|Tests|Snapshots): +.*\b(?:failed|obsolete|total)\b.*", worth=82),
    Shape("jest", "noise", r"\s*PASS +\S+.*"),
    Shape("vitest", "test", r"\s*(?:FAIL|❯|×) +(?P<test>(?:\|?[\w-]+\|? +)?\S+\.[cm]?[jt]sx? > .+?)(?: \d+ ?m?s)?$", "test", after=2),
    Shape("vitest", "title", r"\s*(?:FAIL|❯) +(?P<file>" + JS + r") ?[(\[].*failed.*", "test"),
    Shape("vitest", "place", r"\s*❯ (?:.* )?(?P<file>" + JS + r"):(?P<line>\d+):\d+$", "test"),
    Shape("vitest", "section", r"⎯+ (?:Failed (?:Tests|Suites)|Unhandled (?:Errors?|Rejections?)).*⎯+$", worth=50),
    Shape("vitest", "summary", r"\s*(?:Test Files|Tests|Errors|Snapshots) +.*\b(?:failed|error).*", "test"),
    # mocha, jasmine, karma, node:test and other TAP, playwright, cypress
    Shape("mocha", "summary", r"\s+\d+ (?:failing|pending|passing)\b.*", needs=" failing", worth=78),
    Shape("mocha", "test", r"\s+\d+\) (?P<test>\S.*)$", "test", needs=" failing", after=6),
    Shape("mocha", "detail", r"\s+\+ expected - actual$", needs=" failing", after=5),
    Shape("karma", "test", r"(?:\S+ )+\([^)]*\) (?P<test>\S.*) FAILED$", "test", needs=": Executed ", after=4),
    Shape("karma", "summary", r".*: Executed \d+ of \d+ .*\(\d+ FAILED\).*", "test"),
    Shape("tap", "test", r"\s*not ok \d+(?: -)? (?P<test>(?!.*# (?i:todo|skip)).+)$", "test", after=14),
    Shape("tap", "noise", r"\s*ok \d+ .*"),
    Shape("tap", "summary", r"(?:# |ℹ )(?:tests|pass|fail|cancelled) \d+$", needs=" fail ", worth=66),
    Shape("tap", "test", r"\s*✖ (?P<test>(?!\d+ problem|failing tests).+?) \([\d.]+ms\)", "test", after=6),
    Shape("tap", "place", r"test at (?P<file>\S+?):(?P<line>\d+):\d+$", "test"),
    Shape("playwright", "test", r"\s+\d+\) (?P<test>(?:\[[\w -]+\] › )?(?P<file>\S+):(?P<line>\d+):\d+ › .+?)(?: \(retry #\d+\))?[ ─]*$", "test", after=8),
    Shape("playwright", "summary", r"\s+[1-9]\d* (?:failed|flaky|did not run)$", "test", after=2),
    Shape("stack", "frame", r"\s+at (?:.* \()?(?:file://)?(?P<file>(?!node:)[^():]*[^():\s]):(?P<line>\d+):\d+\)?.*$"),
    Shape("node", "error", r"(?:Uncaught )?(?P<message>(?:\w+ )?\[?[A-Z]\w*(?:Error|Exception)(?: \[\w+\])?\]?: .*)", "code", after=3),
    Shape("node", "error", r"(?:Error: Cannot find (?:module|package)|\s*Cannot find (?:module|package)|Module not found: |.*ERR_MODULE_NOT_FOUND).*", "code", after=3),
    Shape("node", "error", r"Error: .*", "code", worth=74, after=3),
    Shape("node", "place", r"\s*(?P<file>(?:file://)?/\S+\.[cm]?[jt]s):(?P<line>\d+)$", after=3),
    Shape("node", "error", r".*(?:UnhandledPromiseRejection|unhandledRejection|Unhandled 'error' event).*", "code"),
    # tsc
    Shape("tsc", "place", r"(?P<file>[^\s()][^()]*)\((?P<line>\d+),\d+\): error (?P<message>TS\d+: .*)", "code"),
    Shape("tsc", "place", r"(?P<file>\S+?):(?P<line>\d+):\d+ - error (?P<message>TS\d+: .*)", "code", after=4),
    Shape("tsc", "error", r"(?:.* )?error (?P<message>TS\d+: .*)", "code"),
    Shape("tsc", "summary", r"Found (?P<count>\d+) errors? in .*", "code"),
    # eslint, stylelint, prettier, biome
    Shape("eslint", "title", r"(?P<file>(?:/|[A-Za-z]:\\|\./)?\S+\.(?:[cm]?[jt]sx?|vue|svelte|astro|json|css|scss|less|md|mdx|html|hbs))$", worth=24),
    Shape("eslint", "place", r"\s+(?P<line>\d+):\d+ +error +(?P<message>\S.*)", "lint"),
    Shape("eslint", "hint", r"\s+\d+:\d+ +warning +\S.*", worth=12),
    Shape("eslint", "summary", r"\s*✖ \d+ problems? \(.*\)$", "lint"),
    Shape("eslint", "error", r"(?:ESLint found too many warnings|Oops! Something went wrong).*", "lint", after=4),
    Shape("stylelint", "place", r"\s+(?P<line>\d+):\d+ +[✖×] +(?P<message>\S.*)", "lint"),
    Shape("prettier", "summary", r"\[warn\] (?:Code style issues|Forgot to run Prettier).*", "lint"),
    Shape("prettier", "place", r"\[(?:warn|error)\] (?P<file>\S+\.\w+)(?:: (?P<message>.*))?$", "lint"),
    Shape("prettier", "section", r"Checking formatting\.\.\.$", worth=36),
    Shape("biome", "place", r"(?P<file>\S+?)(?::(?P<line>\d+):\d+)? (?P<message>(?:lint/|assist/|suppressions/|parse|format|check|organizeImports|internalError|configuration)\S*)(?:\s+FIXABLE)?\s+━+$", "lint", after=8),
    Shape("biome", "summary", r"(?:Found [1-9]\d* (?:errors?|warnings?)\.|Checked \d+ files? in .*)", worth=66),
    Shape("biome", "error", r"\s*× (?:Some errors were emitted|Formatter would have|File content differs|The .*).*", "lint"),
    # bundlers and frameworks
    Shape("bundler", "error", r"(?:ERROR in |Failed to compile|Type error: |error during build:|Error occurred prerendering page|\[vite\].*(?:Failed|error)|✘ \[ERROR\] |Build failed because of|> Build error occurred|Rollup failed|\[!\] ).*", "code", after=5),
    Shape("bundler", "place", r"\s*(?:\./)?(?P<file>" + JS + r"):(?P<line>\d+):\d+:?$", "code", worth=70),
)
