"""Globs of paths as people write them for protected paths: `*` and `?` stay in one folder, `**` crosses folders."""

import re
import unicodedata
from collections.abc import Iterable
from functools import lru_cache
from typing import Any

import re2

_UNSEEN = dict.fromkeys((*range(0x200C, 0x2010), *range(0x202A, 0x202F), *range(0x206A, 0x2070), 0xFEFF))


@lru_cache(maxsize=4096)
def folded(path: str) -> str:
    """The name under which a file system finds `path` that knows no case, drops dots and spaces at the end of a name
    (Windows) or sees no characters without a width (HFS+)."""
    plain = path.encode("utf-8", "replace").decode("utf-8").translate(_UNSEEN)
    parts = (part.rstrip(" .") or part for part in plain.split("/"))
    return unicodedata.normalize("NFC", "/".join(parts)).casefold()


def _pattern(glob: str) -> str:
    text = folded(glob.strip()).removeprefix("./")
    anchored = "/" in text.rstrip("/")
    text = text.lstrip("/")
    if text.endswith("/"):
        text += "**"
    parts = text.split("/")
    out = "" if anchored else "(?:.+/)?"
    for index, part in enumerate(parts):
        last = index == len(parts) - 1
        if part == "**":
            # at the end: the folder itself as well, since a file or a link may stand in its place
            out = out.removesuffix("/") + "(?:/.*)?" if last and index else out + (".*" if last else "(?:.*/)?")
        else:
            out += _part(part) + ("" if last else "/")
    return out


@lru_cache(maxsize=1024)
def _compiled(glob: str) -> Any:
    return _quietly(f"(?s){_pattern(glob)}")


@lru_cache(maxsize=64)
def _together(globs: tuple[str, ...]) -> tuple[Any, frozenset[str]]:
    """All of `globs` in one pattern, and the folders on the way to their files."""
    folders = {part for glob in globs for part in _folders(_literal(glob))}
    return _quietly("(?s)" + "|".join(f"(?:{_pattern(glob)})" for glob in globs)), frozenset(folders)


def _folders(literal: str) -> Iterable[str]:
    parts = literal.split("/")[:-1]
    return ("/".join(parts[: count + 1]) for count in range(len(parts)))


@lru_cache(maxsize=1024)
def _literal(glob: str) -> str:
    """The beginning of `glob` up to its first wildcard."""
    return re.split(r"[*?\[]", folded(glob.strip()).removeprefix("./").lstrip("/"), maxsplit=1)[0]


def _part(part: str) -> str:
    out, at = "", 0
    while at < len(part):
        character = part[at]
        at += 1
        if character == "*":
            while part[at : at + 1] == "*":
                at += 1
            out += "[^/]*"
        elif character == "?":
            out += "[^/]"
        elif character == "[" and (end := part.find("]", at + 1)) > 0:
            chosen = part[at:end]
            negated = chosen[:1] in ("!", "^")
            body = re.sub(r"([\\\[\]^&~|])", r"\\\1", chosen[1:] if negated else chosen)
            out += _class(body, negated)
            at = end + 1
        else:
            out += re.escape(character)
    return out


def _quietly(pattern: str) -> Any:
    """Compiled for RE2, which takes linear time for any glob and path."""
    options = re2.Options()
    options.log_errors = False
    return re2.compile(pattern, options)  # type: ignore[no-untyped-call]


def _class(body: str, negated: bool) -> str:
    text = f"[{'^/' if negated else ''}{body}]"
    try:
        _quietly(text)
    except re2.error:
        return re.escape(f"[{'!' if negated else ''}{body}]")
    return text


def matches(path: str, glob: str) -> bool:
    """Whether `path` is one that `glob` names, whatever the case.

    A glob without a slash inside (`*.lock`, `dir/`) names such files or folders anywhere; `dir/` and `dir/**` name all
    in a folder and the folder itself. A path that stands where a folder on the way to the glob's files has to be counts
    as well: a link or a file there takes the whole folder away.
    """
    name = folded(path)
    return bool(_compiled(glob).fullmatch(name)) or _literal(glob).startswith(name + "/")


def names(path: str, glob: str) -> bool:
    """Whether `path` itself is one that `glob` names; what stands in a folder's place does not count."""
    return bool(_compiled(glob).fullmatch(folded(path)))


def match_any(path: str, globs: tuple[str, ...]) -> bool:
    """Whether one of many `globs` `matches` `path`, in one look."""
    pattern, folders = _together(globs)
    name = folded(path)
    return name in folders or bool(pattern.fullmatch(name))


def first_match(path: str, globs: Iterable[str]) -> str | None:
    """The first of `globs` that names `path`."""
    return next((glob for glob in globs if matches(path, glob)), None)
