"""Cuts our part out of GitHub's published GraphQL schema, so that tests need no network and not all of its 1.2 MB.

    npm pack @octokit/graphql-schema@15.26.1     (unpack it)
    python -m tests.github.emulator.graphql.slice FOLDER

Kept are the types that the local GitHub has, whole but for their prose; what else they refer to becomes a scalar.
"""

import gzip
import re
import sys
from pathlib import Path

from github.emulator.rest.graphql.schema import SCHEMA

PUBLISHED = Path(__file__).parent / "schema.graphql.gz"
_PROSE = re.compile(r'"""[\s\S]*?"""\s*| @\w+(?:\((?:[^()"]|"[^"]*")*\))?')
_DEFINITION = re.compile(
    r"^(?:type|interface|enum|input|union|scalar) (\w+)[^\n{=]*(?:\{[\s\S]*?^\}|=[^\n]*(?:\n +\|[^\n]*)*)?", re.M
)
_BUILT_IN = {"Int", "String", "Boolean", "ID", "Float"}


def cut(published: str) -> str:
    """The slice as SDL."""
    found = {each[1]: each[0] for each in _DEFINITION.finditer(_PROSE.sub("", published))}
    kept = {name: found[name] for name in SCHEMA.type_map if name in found}
    texts = [_among(text, kept) for text in kept.values()]
    referred = {word for text in texts for word in re.findall(r"\w+", text)} & set(found)
    return "\n".join([*texts, *(f"scalar {name}" for name in sorted(referred - set(kept) - _BUILT_IN))])


def _among(text: str, kept: dict[str, str]) -> str:
    """A definition that names no interface and no member of a union which is not kept."""
    head, _, rest = text.partition("\n") if "{" in text else (text, "", "")
    if " implements " in head:
        name, _, listed = head.rstrip(" {").partition(" implements ")
        shown = " & ".join(each for each in listed.split(" & ") if each in kept)
        head = f"{name}{' implements ' * bool(shown)}{shown} {{"
    if head.startswith("union"):
        name, _, listed = text.partition("=")
        members = " | ".join(each for each in re.findall(r"\w+", listed) if each in kept)
        return f"{name}= {members}"
    return f"{head}\n{rest}" if rest else head


if __name__ == "__main__":
    text = (Path(sys.argv[1]) / "schema.graphql").read_text()
    PUBLISHED.write_bytes(gzip.compress(cut(text).encode(), mtime=0))
