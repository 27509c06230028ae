"""The method for what no recogniser knows: error words, where they stand, a place in a file, rarity."""

import math
import re

from loops.evidence.text.normal import akin
from loops.evidence.text.wrapped import unwrapped

HEAD = 120  # characters in which a word of failure stands that begins a complaint
CROSSES = "✖✕✗✘❌⨯×"
# words of failure, as whole words: not part of a name, a path, an option or a call
WORDS = (
    "errors?",
    "err",
    "fail(?:ed|s|ing|ures?)?",
    "fatal",
    "panic(?:ked)?",
    "exceptions?",
    "abort(?:ed|ing)?",
    "crash(?:ed)?",
    "denied",
    "denies",
    "refused",
    "reject(?:ed|s)",
    "invalid",
    "illegal",
    "missing",
    "mismatch(?:ed)?",
    "unable",
    "cannot",
    "can't",
    "could not",
    "couldn't",
    "not found",
    "no \\w+ (?:was |were )?found",
    "nothing to",
    "no such",
    "not (?:allowed|installed|supported|defined|exist|valid|match|equal)",
    "unexpected",
    "undefined",
    "unresolved",
    "unknown",
    "unrecognized",
    "killed",
    "timed out",
    "timeout",
    "violations?",
    "conflicts?",
    "forbidden",
    "unauthorized",
    "unsupported",
    "incompatible",
    "differs?",
    "must (?:be|not|have)",
    "expected",
    "is not",
    "did not",
    "didn't",
    "does not",
    "doesn't",
    "broken",
    "corrupt(?:ed)?",
    "wrong",
    "bad",
    "problems?",
    "incorrect(?:ly)?",
    "too (?:many|long|large|few)",
    "exceed(?:ed|s)",
    "out[- ]of[- ](?:date|sync)",
    "outdated",
    "please (?:run|commit|update|fix|add|regenerate|format)",
    "not (?:formatted|tidy|clean|up[- ]to[- ]date|met|satisfied|reachable|ready|healthy)",
    "unformatted",
    "unhealthy",
    "regress(?:ed|ions?)",
    "threshold",
    "findings?",
    "issues?",
    "vulnerabilit(?:y|ies)",
    "leaks?",
    "duplicated?",
    "should (?:be|not|have)",
    "needs? to be",
    "does(?: not|n't) (?:match|meet|exist)",
    "unused",
    "warn(?:ing)?",
    "\\w+BackOff",
    "[\\w.$]+(?:error|exception)(?=:)",
    *CROSSES,
)
WORD = re.compile(rf"(?<![\w/@$-])(?:(?<!\.)|(?<=\.\.))(?:{'|'.join(WORDS)})(?![\w/(=]|-\w|\.\w)", re.I)
# an error word in the place where programs put it: at the line's start, behind names, a mark or a level
LEAD = re.compile(
    # possessive and bounded: a line of blanks would cost the cube of its length
    r"[\s\W]*+(?:\d[\d:.,TZ/ -]{0,60}\s{1,8})?(?:[\w./@-]{1,300}(?:\[\d+\])?:\s{0,40}){0,3}[\s\W]*+"
    r"(?:error|fatal|fail(?:ed|ure)?|panic|exception|critical|crit|severe|abort(?:ed)?|unhandled \w+|uncaught \w+|"
    r"[\w.$]+(?:error|exception)(?=:))"
    r"(?:\s?\(\w+\)|\[\w+\])?(?:\s*[:!\]|]|\s+-\s|\s*$|\s+(?:in|at|while|on|to|after|because|when)\b)",
    re.I,
)
# a mark before the name of what failed
CROSS = re.compile(rf"[\s│┃|]*(?:[{CROSSES}]|\[(?:-|FAIL(?:ED|URE)?|KO)\])\s{{0,4}}[\w\[\"'`(<@/.]")
LOUD = re.compile(r"(?<![\w/.-])(?:ERRORS?|FATAL|FAIL(?:ED|URES?)?|CRITICAL|PANIC|ABORT(?:ED)?|SEVERE)(?![\w/=-]|\.\w)")
# the same words where nothing is wrong: none of it, a passing test, a calm level, a name for dealing with it
CALM = re.compile(
    r"\b(?:0|no|zero|without(?: any)?) (?:\w+ )?"
    r"(?:errors?|fail(?:ed|ures?|ing)?|problems?|warnings?|issues?|vulnerabilities|violations?|conflicts?)\b|"
    r"\b(?:errors?|fail(?:ed|ures?)?)\W{1,3}0\b|"
    r"[\s.:](?:ok|OK|PASS(?:ED)?|passed|SUCCESS|success|done|✓|✔)\s*(?:[\[(].*)?$|"
    r"^\s*(?:✓|✔|√|ok\b|OK\b|PASS|PASSED|\[ *(?:OK|PASS|DEBUG|INFO|info|debug)|DEBUG|INFO|info|debug)|"
    r"\b(?:ignor(?:ed|ing)|allowed|expected) (?:error|failure)|\bon[- ]?(?:error|failure)\b|"
    r"\berrors? (?:handling|handler|page|boundary|log|report)"
)
# counts of both, of which that of failures is not zero
SOME = re.compile(r"\b[1-9]\d* (?:[\w-]+ )?(?:failed|failing|failures?|errors?)\b.*\bpassed\b", re.I)
# a program's own count of what went wrong, or its verdict at the end of the line
COUNT = re.compile(
    r"\b[1-9]\d*(?: of \d+)? (?:[\w-]+ )?(?:failed|failing|failures?|errors?|problems?|violations?|"
    r"mismatch(?:es)?|findings?|"
    r"offen[sc]es?|vulnerabilities|issue(?:\(s\)|s)?|(?:failure|error)\(s\)(?= )|diagnostics?)\b"
    r"|[\s.:]{3,}(?:\(.*\))?(?:Failed|FAILED|failed)$|\b(?:failed|failures?|errors?)\W{1,3}[1-9]\d*\b",
    re.I,
)
PLACE = re.compile(r"[\w/\\-]+\.[a-z]\w{0,8}(?::\d+|\(\d+|, line \d+)|\bline \d+\b", re.I)
WARNING = re.compile(r"\W*warn(?:ings?)?\b|.{0,160}[\s\[(:|]warn(?:ing)?\s*[:\])|-]|.{0,160}:\d+\s+warning\s", re.I)
# lines that never help: blank or drawn, downloads, progress, the runner's housekeeping
DULL = re.compile(
    r"\s*$|[\s\W]{0,80}$|\s*(?:Download(?:ing|ed)\b|Fetching |Resolving |Receiving objects|"
    r"remote: (?:Counting|Compressing|Enumerating|Total)|Unpacking objects|Updating files|"
    r"(?:\[?[=#>.━─█▒░ -]*\]? *)?\d{1,3}(?:\.\d+)?% ?\|?|Installing |Extracting |Collecting |added \d+ packages|"
    r"npm warn|warn(?:ing)?\b.*deprecated|Cache (?:restored|hit|saved|not found)|##\[endgroup\]|"
    r"info (?:Visit|Direct|All)|Cleaning up orphan|\[command\]|.{0,6}\d+ packages? (?:are|is) looking for funding|"
    r"Requirement already|Prepare workflow directory|Getting action download|Temporarily overriding)",
    re.I,
)


def form(text: str) -> str:
    """What the many lines of one complaint share: their head up to the word of failure, without the names in it."""
    text = unwrapped(text)
    found = WORD.search(text)
    return akin(text[: found.end()] if found and found.start() < HEAD else text)


def general(text: str, likes: int, grave: bool = False) -> float:
    """Points of a line by itself; `likes` is how many kept lines are like it, itself included. In a `grave` log
    warnings count for as much as errors."""
    found = WORD.search(text)
    if not found or DULL.match(text):
        return 0.0
    if CALM.search(text) and not SOME.search(text):
        return 4.0
    if WARNING.match(text):
        worth = 50.0 if grave else 16.0
    elif LEAD.match(text) or CROSS.match(text):
        worth = 64.0
    elif COUNT.search(text):
        worth = 62.0
    elif LOUD.search(text):
        worth = 54.0
    else:
        worth = 40.0 if found.start() < 60 else 32.0
    if PLACE.search(text):
        worth += 8
    return worth - 4.0 * math.log2(likes)
