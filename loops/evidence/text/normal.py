"""The same text for the same failure: what differs from run to run and from machine to machine is masked."""

import re

SEP = r"[/\\]{1,2}"
NAME = r"[\w.@+-]+"
# a checkout, a home, a temporary folder: the part of a path before the repository's own
ROOT = re.compile(
    # what only a checkout of the runner's begins with is known in the midst of a word, too: behind dots or an escape
    rf"(?:file:/{{2,3}})?(?:\b[A-Za-z]:)?{SEP}(?:"
    rf"(?:home{SEP}{NAME}|Users{SEP}{NAME}|actions-runner|opt{SEP}actions-runner){SEP}_?work{SEP}(?:{NAME}{SEP}{NAME}|_temp){SEP}"
    rf"|__w{SEP}(?:{NAME}{SEP}{NAME}|_temp){SEP}"
    rf"|github{SEP}workspace{SEP}"
    rf")|(?:(?<![\w./\\-])|(?<=\\[nrt]))(?:file:/{{2,3}})?(?:[A-Za-z]:)?{SEP}(?:"
    rf"a{SEP}(?:{NAME}{SEP}{NAME}|_temp){SEP}"
    rf"|(?:workspaces?|builds?|src|app|work){SEP}(?={NAME}{SEP})"
    rf"|(?:home|Users){SEP}{NAME}{SEP}"
    rf"|(?:private{SEP})?(?:tmp|temp|var{SEP}tmp|var{SEP}folders{SEP}{NAME}{SEP}{NAME}{SEP}T){SEP}(?:{NAME}{SEP})*"
    r")"
)
# in this order: a mask leaves nothing that an earlier one would change
MASKS: tuple[tuple[re.Pattern[str], str], ...] = tuple(
    (re.compile(pattern), mask)
    for pattern, mask in (
        (r"\d{4}-\d\d-\d\d[T _-]\d\d[:_-]\d\d(?:[:_-]\d\d)?(?:[.,_]\d+)?(?: ?(?:Z|UTC|GMT|[+-]\d\d:?\d\d))?", "<time>"),
        (r"\b(?:\d{4}-\d\d-\d\d|\d\d?/\d\d?/\d{4})\b", "<date>"),
        (r"\b\d{1,2}:\d\d:\d\d(?:[.,]\d+)?\b", "<time>"),
        (r"(?i)\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b", "<uuid>"),
        (r"\b0[xX][0-9a-fA-F]+\b", "<address>"),
        (r"\b(?:\d{1,3}\.){3}\d{1,3}(?::\d{1,5})?\b", "<host>"),
        (r"\[(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}\](?::\d{1,5})?", "<host>"),
        (r"(<host>|\blocalhost|\b(?:[a-z][\w-]*\.)+[a-z]{2,}):\d{2,5}\b(?!:)(?=[/\s'\")\],;?]|$)", r"\1:<port>"),
        (r"(?i)\b(port[ =:]+)\d+\b", r"\1<port>"),
        (r"(?<=\w)\\(?=\w)", "/"),
        (r"\bsha(?:256|384|512):[0-9a-f]{7,}\b|\b[0-9a-f]{40}(?:[0-9a-f]{24})?\b", "<hash>"),
        (r"\b(?=[0-9a-f]*\d)(?=[0-9a-f]*[a-f])[0-9a-f]{7,64}\b", "<hash>"),
        (r"\b\d+(?:\.\d+)? ?(?:ns|µs|us|ms|s|secs?|seconds?|m|mins?|minutes?|h|hours?)\b", "<duration>"),
        (r"\b\d+(?:\.\d+)? ?(?:[kKMGT]i?B|bytes)\b", "<size>"),
        (r"\d+\.\d{3,}|\b\d{4,}\b", "<number>"),
        (r"\s+", " "),
    )
)
DIGITS = re.compile(r"\d+")


def normal(text: str) -> str:
    """Mask times, hashes, addresses, ports, durations, sizes, long numbers and the checkout's place. Idempotent."""
    for _ in range(4):
        before, text = text, _once(text)
        if text == before:
            break
    return text


def in_checkout(path: str) -> str:
    """A file's path in its repository, where the part before that is known for a checkout; else as it is."""
    found = ROOT.match(path)
    return (path[found.end() :] if found else path.removeprefix("file://")) or path


def _once(text: str) -> str:
    text = ROOT.sub("", text)
    for pattern, mask in MASKS:
        text = pattern.sub(mask, text)
    return text.strip()


NAMED = re.compile(r"\"[^\"]*\"|'[^']*'|`[^`]*`|\S*[/\\]\S*|\S+\.\w+")


def akin(text: str) -> str:
    """Coarser still: without what is quoted, files and other names with a dot."""
    return DIGITS.sub("0", NAMED.sub("", text)).strip()


def alike(text: str) -> str:
    """A coarser key for counting repeats: the text without its numbers."""
    return DIGITS.sub("0", text).strip()
