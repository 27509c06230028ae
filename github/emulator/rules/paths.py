"""Paths of files as rulesets name them."""

import re


def fits_path(pattern: str, path: str) -> bool:
    """Whether a file is one that the pattern restricts: `*` stops at a slash, `**` does not, a folder is all below."""
    out, at = "", 0
    while at < len(pattern):
        if pattern.startswith("**", at):
            out, at = out + ".*", at + 2
        else:
            out += {"*": "[^/]*", "?": "[^/]"}.get(pattern[at]) or re.escape(pattern[at])
            at += 1
    return re.fullmatch(f"{out.rstrip('/')}(?:/.*)?", path) is not None
