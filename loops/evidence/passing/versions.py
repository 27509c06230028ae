"""Which versions of what a job fetched, as package managers and the runner print it."""

import re
from collections.abc import Sequence

MOST = 600  # names
VERSION = r"v?\d[\w.+!-]*"
# by the first word of the line
FORMS = (
    (
        "Downloading Using",
        rf"\w+ (?:cached )?(?:\S*/)?(?P<name>[A-Za-z][\w.]*(?:-[A-Za-z]\w*)*)-(?P<version>{VERSION}?)"
        r"(?:-\w|\.(?:whl|tar|zip|crate|gem|pom|jar|tgz))",
    ),
    (
        "Downloading Downloaded",
        r"\w+(?: from [\w-]+)?:? \S*/(?P<name>[\w.-]+)/(?P<version>\d[\w.-]*)/(?P=name)-(?P=version)\.",
    ),
    ("Using Installing Fetching", rf"\w+ (?P<name>[A-Za-z][\w.-]*) (?P<version>{VERSION})(?: |$)"),
    ("Compiling Downloaded Checking Adding", r"\w+ (?P<name>[\w-]+) (?P<version>v\d\S*)"),
    ("go:", r"go: (?:downloading|added|upgraded) (?P<name>\S+) (?:\S+ => )?(?P<version>v\d\S*)"),
    ("+", rf"\+ (?P<name>@?[\w./-]+)(?: |@|==)(?P<version>{VERSION})(?: |$)"),
    ("-", rf"- (?:Installing|Downloading|Upgrading) (?P<name>[\w./-]+) \((?P<version>{VERSION})\)"),
    ("Setting Unpacking", r"\w+ (?:up )?(?P<name>[a-z0-9][\w.+:-]*) \((?P<version>[\w.+:~-]+)\)"),
    ("Download", r"Download action repository '(?P<name>[^']+)' \(SHA:(?P<version>\w{7,12})"),
    ("Current", r"Current (?P<name>runner) version: '(?P<version>[^']+)'"),
    ("Image", r"(?P<name>Image) Release: \S*(?:%2F|/)(?P<version>[\w.]+)$"),
    ("Successfully", r"Successfully set up (?P<name>\w+) \((?P<version>[\w.+-]+)\)"),
    ("node: python: Python go", r"(?P<name>[A-Za-z]+):? (?:version )?(?P<version>(?:v|go)?\d\S*)"),
)
BY_WORD: dict[str, list[re.Pattern[str]]] = {}
for words, pattern in FORMS:
    for word in words.split():
        BY_WORD.setdefault(word, []).append(re.compile(pattern))
PIP = re.compile(r"Successfully installed (?P<all>.+)")
ONE = re.compile(r"(?P<name>[A-Za-z][\w.-]*?)-(?P<version>\d[\w.+!]*)$")


def versions(texts: Sequence[str]) -> dict[str, str]:
    """The last version of each name, in the order of the names' first sight."""
    found: dict[str, str] = {}
    for text in texts:
        line = text.strip()
        word = line.partition(" ")[0]
        if word not in BY_WORD:
            continue
        if installed := PIP.match(line):
            pairs = [one.group("name", "version") for each in installed["all"].split() if (one := ONE.match(each))]
        else:
            pairs = [one.group("name", "version") for form in BY_WORD[word] if (one := form.match(line))][:1]
        for name, version in pairs:
            if name in found or len(found) < MOST:
                found[name] = version
    return found


def differing(green: dict[str, str], red: dict[str, str]) -> list[tuple[str, str, str]]:
    """Name, the passing log's version and the failing one's, where both have one and they differ."""
    return [(name, green[name], version) for name, version in red.items() if green.get(name, version) != version]
