"""What the words of a line say of the block that it begins: a condition, a handler, a way out. Pure."""

import re

from loops.guards.recognisers import ASSERTION

FAILS = re.compile(
    r"\b[tbf]\.(?:Error|Fatal|Fail)(?:f|Now)?\(|\b(?:self\.)?fail\(|\bpanic!?\(|\bthrow\b|\braise\b|\bAssert\.Fail\(|\bflunk\b"
)
"""Assertions that stand under the condition that they are about."""
_FALSE = r"(?:False|false|0|None|null|nil|undefined|TYPE_CHECKING|typing\.TYPE_CHECKING|not True|!true|\"\"|'')"
NEVER = re.compile(
    rf"^\}}?\s*(?:if|elif|while|when)\b[\s(]*{_FALSE}[\s)]*(?:\{{|:|then)?\s*$"
    r"|^(?:if|while|elif)\b.*(?:\band False\b|&& false\b|\band false\b)"
    r"|^unless\b[\s(]*true\b|^until\b[\s(]*true\b"
    r"|^(?:async )?for\b.*(?:\bin|\bof|:)\s*(?:\[\s*\]|\(\s*\)|range\(0?\)|0\.\.0|set\(\)|\{\s*\}|Vec::<\w+>::new\(\)"
    r"|(?:List|Set)\.of\(\)|\[\]\w+\{\}|Array\(\)|range \[\]\w+\{\})\s*\)?\s*[:{]?\s*$"
    r"|^for\b.*:=\s*range\s+\[\]\w+\{\}\s*\{$"
    r"|^(?:async )?for\b.*(?:\[:0\]|\[0:0\]|\.slice\(0,\s*0\)|\.take\(0\)|\.first\(0\)|islice\(.*,\s*0\))"
    r"|^\(?\[\]\)?\.(?:each|forEach|map)\b|^(?:0|zero)\.times\b|^for\s*\(.*;\s*(?:false|\w+\s*<\s*0)\s*;"
)
CONDITION = re.compile(
    r"^\}?\s*(?:if|elif|else if|elsif|unless)\b"
    r"|^(?:setTimeout|setImmediate|setInterval|process\.nextTick|queueMicrotask|requestAnimationFrame)\("
    r"|^go func\(|^(?:new )?Thread\("
)
"""What runs under a condition, or when the test may be over."""
OTHERWISE = re.compile(r"^\}?\s*(?:else|elif|elsif)\b")
TRY = re.compile(r"^(?:try|begin)\b\s*[{:]?\s*$|^(?:\S+\s+){0,3}=?\s*try\s*\{$")
SUPPRESS = re.compile(r"\bsuppress\(.*\b(?:AssertionError|Exception|BaseException)\b")
HANDLER = re.compile(r"^\}?\s*(?:except|catch|rescue)\b(.*)$")
_WIDE = re.compile(
    r"\b(?:\w*Assertion\w*|Exception|BaseException|\w*Throwable|Error|StandardError|ExpectationNotMetError|XunitException"
    r"|ComparisonFailure|MultipleFailures\w*)\b"
)
_NAME_ONLY = re.compile(r"[\s({]*(?:=>\s*)?[\w$]*(?:\s*:\s*(?:any|unknown))?[\s)}:]*[{]?[\s}]*")
FUNCTION = re.compile(
    r"^(?:async\s+)?def\s+(\w+)|^(?:async\s+)?function\s+(\w+)|^fn\s+(\w+)|^let\s+(\w+)\s*=\s*(?:move\s*)?\|"
    r"|^(?:const|let|var)\s+(\w+)\s*=\s*(?:async\s*)?(?:\([^)]*\)|\w+)\s*=>\s*\{?$|^(\w+)\s*:?=\s*func\("
)
TOP = re.compile(r"^(?:export\s+)?(?:async\s+)?(?:def|function|func|fn|fun|sub)\s+(?:\([^)]*\)\s*)?(\w+)")
"""A function of a file, which tests may assert with."""
_OUT = (
    r"(?:return\b|throw\b|exit\b|process\.exit\(|(?:sys|os)\._?[eE]xit\(|[tb]\.(?:Skip|SkipNow|Skipf|FailNow)\("
    r"|raise\s+(?:unittest\.)?SkipTest|raise SystemExit|Assert\.Pass\(|next\b|System\.exit\(|std::process::exit\("
    r"|pytest\.(?:exit|skip)\(|self\.skipTest\(|break\b|continue\b|runtime\.Goexit\()"
)
ENDS = re.compile(rf"^{_OUT}")
ONE_LINE_END = re.compile(
    rf"^(?:if|unless)\b.*[\s:{{)]{_OUT}|^(?:Assum\w+\.)?(?:assumeTrue|assumeFalse|assumeThat|assumingThat)\("
)
_LET_GO = re.compile(
    r"\btry\s*[{?]|\b(?:runCatching|catchThrowable|catchError|allSettled)\b|\w+\s+\w+\s*=[^=].*[-=]>\s*\{?\s*$"
)
"""What stands before an assertion whose failure goes nowhere."""
_CAUGHT = re.compile(r"\brescue\b|\.catch\(\s*\(?\w*\)?\s*=>\s*(?:\{\s*\}|null|undefined)")
_FALSE_AND = re.compile(rf"^{_FALSE}\s*(?:&&|and)\s")


def kind_of(text: str) -> str:
    """What a line begins: "maybe" (a condition), "else", "try", "function", "call" (others run it), "loop", "plain"."""
    if TRY.match(text):
        return "try"
    if CONDITION.match(text):
        return "maybe"
    if re.match(r"\}?\s*(?:else|case|when|default|match|switch|select)\b", text):
        return "else"
    if FUNCTION.match(text):
        return "function"
    if re.match(r"(?:async )?(?:for|while|loop|until)\b", text):
        return "loop"
    called = re.search(r"(?:=>|\bdo(?:\s*\|.*\|)?|\bfunc\(.*\).*|\bfunction\s*\(.*\)|->|\|\w*\|)\s*\{?$", text)
    declared = re.match(r"(?:class|def|fn|func|fun|public|private|protected|static|impl|mod|object|override|@)\b", text)
    return "call" if called or declared else "plain"


def catches_failures(what: str) -> bool:
    """Whether `what` stands behind `except`, `catch` or `rescue` catches a failed assertion."""
    return bool(_NAME_ONLY.fullmatch(what) or _WIDE.search(what)) or bool(re.match(r"\s*=>", what))


def core_of(text: str) -> tuple[str, str]:
    """The assertion in a line, and how it is reached as far as the line itself says."""
    match = ASSERTION.search(text)
    start = match.start() if match else 0
    head, core = text[:start], text[start:]
    while start and (text[start - 1].isalnum() or text[start - 1] in "._$!"):
        start -= 1
        head, core = text[:start], text[start:]
    state = "reached"
    if (
        _LET_GO.search(head)
        or _CAUGHT.search(core)
        or _FALSE_AND.match(head)
        or re.match(rf"(?:if|while)\b[\s(]*{_FALSE}[\s)]*[:{{]?\s*$", head)
    ):
        state = "never reached"
    elif re.search(r"^\W*(?:if|unless)\b|&&|\band\s*$|\?\s*$", head) and not FAILS.search(core):
        state = "reached only under a condition"
    elif late := re.search(r"\)\s+(?:if|unless)\b\s*(.*)$", core):
        state = (
            "never reached" if re.fullmatch(rf"{_FALSE}|true", late[1].strip()) else "reached only under a condition"
        )
    core = re.split(r"\s*\}\s*catch\b|\s+rescue\b|\.catch\(|(?<=\))\s+(?:if|unless)\b", core, maxsplit=1)[0]
    return core.rstrip(" ;}"), state


def left_open(text: str, until: str, language: str) -> str:
    """What closes the string or comment that is open after this line, or "". `until`: what was open before it."""
    if until:
        return "" if until in text else until
    if language == "python":
        for mark in ('"""', "'''"):
            if text.count(mark) % 2:
                return mark
        return ""
    if language == "ruby":
        return "=end" if text.startswith("=begin") else ""
    if text.startswith("/*") and "*/" not in text:
        return "*/"
    if text.startswith(("#if 0", "#if false", "#if FALSE", "#if NEVER")):
        return "#endif"
    return ""
