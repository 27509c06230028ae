"""Commits: reading their parts, and writing them byte for byte."""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta, timezone

from github.emulator.git.repository import GitRepository


@dataclass(frozen=True)
class Person:
    """Who, with the moment as git keeps it: seconds and an offset."""

    name: str
    email: str
    date: datetime

    def line(self) -> str:
        return f"{self.name} <{self.email}> {int(self.date.timestamp())} {self.date.strftime('%z') or '+0000'}"


@dataclass(frozen=True)
class Commit:
    """`signature` is the armour of its gpgsig header, `payload` what that signs."""

    sha: str
    tree: str
    parents: tuple[str, ...]
    author: Person
    committer: Person
    message: str
    signature: str | None = None
    payload: str | None = None

    @property
    def headline(self) -> str:
        return self.message.split("\n", 1)[0]


def _person(line: str) -> Person:
    found = re.fullmatch(r"(.*?) ?<([^>]*)> (-?\d+) ([+-]\d{4})", line)
    if found is None:
        return Person(line, "", datetime.fromtimestamp(0, UTC))
    name, email, seconds, zone = found.groups()
    offset = timedelta(hours=int(zone[:3]), minutes=int(zone[0] + zone[3:]))
    return Person(name, email, datetime.fromtimestamp(int(seconds), timezone(offset)))


def parse(sha: str, raw: bytes) -> Commit:
    """A commit object as git stores it."""
    text = raw.decode(errors="replace")
    head, _, message = text.partition("\n\n")
    headers: list[tuple[str, str]] = []
    for line in head.split("\n"):
        if line.startswith(" ") and headers:
            headers[-1] = (headers[-1][0], f"{headers[-1][1]}\n{line[1:]}")
        else:
            key, _, value = line.partition(" ")
            headers.append((key, value))
    first = dict(reversed(headers))
    signature = first.get("gpgsig")
    payload = None
    if signature is not None:
        payload = re.sub(r"\ngpgsig .*(?:\n .*)*", "", head, count=1) + "\n\n" + message
    return Commit(
        sha,
        first["tree"],
        tuple(value for key, value in headers if key == "parent"),
        _person(first["author"]),
        _person(first["committer"]),
        message,
        signature,
        payload,
    )


def read(git: GitRepository, sha: str) -> Commit:
    return parse(sha, git.run("cat-file", "commit", sha))


def read_many(git: GitRepository, shas: list[str]) -> list[Commit]:
    """Several commits in one go."""
    out = git.run("cat-file", "--batch", data="".join(f"{sha}\n" for sha in shas).encode())
    found, at = [], 0
    while at < len(out):
        end = out.index(b"\n", at)
        sha, _, size = out[at:end].decode().split()
        body = out[end + 1 : end + 1 + int(size)]
        found.append(parse(sha, body))
        at = end + int(size) + 2
    return found


def write(git: GitRepository, commit: Commit, sign: Callable[[bytes], str] | None = None) -> Commit:
    """Store the commit (its `sha` is ignored) and say what it became. `sign` makes the armour for its bytes."""
    parents = "".join(f"parent {parent}\n" for parent in commit.parents)
    people = f"author {commit.author.line()}\ncommitter {commit.committer.line()}\n"
    head = f"tree {commit.tree}\n{parents}{people}"
    payload = f"{head}\n{commit.message}"
    signature = sign(payload.encode()).rstrip("\n") if sign else None
    if signature:
        head += "gpgsig " + signature.replace("\n", "\n ") + "\n"
    sha = git.write("commit", f"{head}\n{commit.message}".encode())
    return replace(commit, sha=sha, signature=signature, payload=payload if signature else None)
