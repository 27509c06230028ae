"""pytest, unittest, tracebacks, mypy, pyright, ruff, flake8, pylint, black, tox and nox."""

from loops.evidence.recognise.shapes.shape import Shape

PY = r"(?P<file>[^\s:]+\.pyi?)"

# fmt: off
SHAPES = (
    # pytest
    Shape("pytest", "section", r"=+ (?:FAILURES|ERRORS) =+$", "test", worth=58),
    Shape("pytest", "section", r"=+ short test summary info =+$", worth=40),
    Shape("pytest", "test", r"(?:\[gw\d+\] .*?)?(?:FAILED|ERROR) (?P<test>[^\s:]+\.py(?:::.+?)?)(?: - (?P<message>.*))?$", "test"),
    Shape("pytest", "test", r"(?P<test>\S+\.py::\S.*?) (?:FAILED|ERROR)\b.*", "test", worth=70),
    Shape("pytest", "title", r"_{2,} (?:ERROR (?:collecting|at setup of|at teardown of) )?\S.* _{2,}$", worth=66),
    Shape("pytest", "detail", r"E {3,}(?P<message>\S.*)", "test", worth=78),
    Shape("pytest", "detail", r"E$", worth=20),
    Shape("pytest", "source", r"> {3,}\S.*", needs="E   ", worth=58, before=3, after=1),
    Shape("pytest", "place", PY + r":(?P<line>\d+): (?P<message>[\w.]*(?:Error|Exception|Warning|Failed|Exit|Interrupt|Failure)\w*\b.*)", "test"),
    Shape("pytest", "frame", PY + r":(?P<line>\d+): (?:in .+)?$", after=1),
    Shape("pytest", "summary", r"=* ?(?:\d+ \w+, )*\d+ (?:failed|errors?)\b.* in [\d.]+m?s.*", "test", worth=90),
    Shape("pytest", "summary", r"!+ .*(?:Interrupted|stopping after|xdist\.dsession).* !+$", worth=66),
    Shape("pytest", "error", r"(?:ImportError while (?:loading conftest|importing test module)|INTERNALERROR> .*|ERROR: (?:file or directory not found|not found|usage).*)", "test", after=6),
    Shape("pytest", "error", r"(?:FAIL Required test coverage|ERROR: Coverage failure|Coverage failure:|FAIL: Coverage).*", "test"),
    Shape("pytest", "section", r"-{3,} Captured (?:stdout|stderr|log) \w+ -{3,}$", worth=40, after=5),
    Shape("pytest", "noise", r"(?:\[gw\d+\] \[ *\d+%\] )?(?:\S+ )?(?:PASSED|SKIPPED|XFAIL|XPASS)\b.*"),
    Shape("pytest", "noise", r"\S+\.py(?:::\S+)? [.sxX]+ *\[ *\d+%\]$"),
    Shape("pytest", "noise", r"[\d.]+s (?:call|setup|teardown) +\S+::"),
    # unittest, also Django's
    Shape("unittest", "test", r"(?:FAIL|ERROR): (?P<test>\w+ \([\w.]+\)(?: .*)?)$", "test", after=2),
    Shape("unittest", "summary", r"FAILED \((?:failures|errors|unexpected successes|skipped|expected failures)=.*\)$", "test", worth=90),
    Shape("unittest", "summary", r"Ran (?P<count>\d+) tests? in [\d.]+s", needs="FAILED (", worth=70),
    Shape("unittest", "noise", r"(?:test\w*|\w+) \([\w.]+\)(?: .*)? \.\.\. (?:ok|skipped.*|expected failure)$"),
    # tracebacks
    Shape("python", "title", r"\s*(?:\+ )?(?:Exception Group )?Traceback \(most recent call last\):", "code", worth=58),
    Shape("python", "frame", r'\s*(?:\| )*File "(?P<file>[^"]+)", line (?P<line>\d+)(?:, in .*)?$', after=2, worth=48),
    Shape("python", "frame", r'\s*File "(?P<file>[^"]+)", line (?P<line>\d+) in .*', worth=48),
    Shape("python", "error", r"Fatal Python error: .*", "code", worth=86, after=6),
    Shape("python", "error", r"(?:\s*\| )?(?P<message>(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Iteration|Warning|NotFound|DoesNotExist|Timeout)(?:: .*|$))", "code", after=1),
    Shape("python", "hint", r"(?:During handling of the above exception|The above exception was the direct cause)", worth=30),
    # types
    Shape("mypy", "place", PY + r":(?P<line>\d+):(?:\d+:)? error: (?P<message>.*)", "lint"),
    Shape("mypy", "hint", r"\S+\.pyi?:\d+:(?:\d+:)? note: .*", worth=26),
    Shape("mypy", "summary", r"Found (?P<count>\d+) errors? in \d+ files? \(.*", "lint"),
    Shape("mypy", "error", r"(?:error: not checking stubs|mypy: |INTERNAL ERROR|error: .*\bstub).*", "lint"),
    Shape("pyright", "place", r"\s+" + PY + r":(?P<line>\d+):\d+ - error: (?P<message>.*)", "lint"),
    Shape("pyright", "summary", r"[1-9]\d* errors?, \d+ warnings?(?:, \d+ .*)?$", "lint"),
    # linters and formatters
    Shape("lint", "place", PY + r":(?P<line>\d+):\d+: (?P<message>[A-Z]+\d+:? .*)", "lint"),
    Shape("ruff", "error", r"(?P<message>(?:[A-Z]{1,4}\d{3,4}(?: \[\*\])?|unformatted:|invalid-syntax:) \S.*)", "lint", worth=74, after=6, needs="-->"),
    Shape("ruff", "place", r"\s+--> (?P<file>\S+?):(?P<line>\d+):\d+$", "lint", needs="\nFound ", worth=75),
    Shape("ruff", "summary", r"(?:Found (?P<count>\d+) (?:errors?|diagnostics?)(?: \(.*\))?\.?$|\[\*\] \d+ fixable.*)", "lint"),
    Shape("format", "place", r"[Ww]ould reformat:? (?P<file>\S+)", "lint"),
    Shape("format", "place", r"error: cannot format (?P<file>\S+): (?P<message>.*)", "lint"),
    Shape("format", "place", r"ERROR: (?P<file>\S+) (?P<message>Imports are incorrectly sorted.*)", "lint"),
    Shape("format", "summary", r"(?:\d+ files? would be .*|Oh no! .*|All done! .*reformatted.*)", "lint"),
    Shape("pylint", "section", r"\*{5,} Module \S+", "lint", worth=30),
    Shape("pylint", "summary", r"Your code has been rated at .*", "lint", worth=50),
    # migrations of the database
    Shape("alembic", "error", r"FAILED: (?:Multiple head revisions|Can't locate revision|Target database is not up to date|No new upgrade|Requested revision).*", "code", worth=84),
    # runners of runners
    Shape("tox", "summary", r"\s*(?:\S+: (?:FAIL|commands failed|exit -?\d+ ).*|evaluation failed.*|congratulations.*)", needs="tox", worth=66),
    Shape("nox", "error", r"nox > (?:Command .* failed with exit code|Session \S+ failed).*", worth=74),
    Shape("python", "error", r"\S*python[\d.]*: (?:can't open file|No module named|Error while finding).*", "configuration"),
)
