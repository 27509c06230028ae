"""Lines in files that people change every day, which send CI or reviewers elsewhere. Pure.

`.gitattributes` can take files out of the diff that people review; lists of dependencies can name another registry.
"""

import re
from collections.abc import Iterator

from github.repositories.config import PATH
from loops.guards.model import Finding, shown

_WAY_OUT = f"A person can make that change, or let agents do it with `!` and its path in `protected_paths` of `{PATH}`."
_ATTRIBUTES = re.compile(r"(?:.*/)?\.gitattributes", re.IGNORECASE)
_HIDES = re.compile(
    r"(?:^|\s)(?:linguist-(?:generated|vendored|documentation)(?:=(?!false\b)\S*)?|-diff|diff=\S+|binary|filter=\S+)(?=\s|$)"
)
_BINARY = re.compile(
    r"[^\s*?\[]*\*?\.(?:png|jpe?g|gif|ico|webp|bmp|tiff?|psd|pdf|zip|gz|bz2|xz|zst|tar|7z|jar|war|class|so|dll|dylib|exe|bin"
    r"|wasm|woff2?|ttf|otf|eot|mp[34]|mov|avi|webm|ogg|wav|flac|sqlite3?|db|parquet|npy|npz|pkl|pt|onnx|safetensors|glb)\s",
    re.IGNORECASE,
)
_REGISTRIES = tuple(
    (re.compile(rf"(?:.*/)?{name}", re.IGNORECASE), re.compile(line))
    for name, line in (
        (
            r"[^/]*(?:requirements|constraints)[^/]*\.(?:txt|in)|requirements/[^/]+\.(?:txt|in)",
            # pip takes beginnings of names, and values right behind a letter
            r"\s*(?:-[if]|--(?:extra|ind|pypi|find|tru)|(?:-[rc][\s=]*|--(?:req|con)[\w-]*[\s=]+)[\w+]+://)",
        ),
        (
            r"pyproject\.toml|Pipfile|setup\.cfg|poetry\.toml",
            r"\s*(?:\[\[\s*(?:tool\.(?:uv\.index|poetry\.source|pdm\.source)|source)\s*\]\]"
            r"|\[tool\.uv\.sources?|(?:tool\.)?(?:uv\.)?(?:pip\.)?[\"']?(?:(?:extra|default)[-_])?index(?:[-_]url)?[\"']?\s*="
            r"|[\"']?find[-_]links[\"']?\s*=|dependency_links\s*=)",
        ),
        (
            r"package\.json|pnpm-workspace\.ya?ml|lerna\.json",
            r"(?:\s*|.*[{,]\s*)[\"']?(?:@[\w-]+:)?registr(?:y|ies)[\"']?\s*:(?!\s*[\"'][\^~<>=v]*\d)",
        ),
        (r"Gemfile|[^/]*\.gemspec", r"\s*source[\s(]"),
        (
            r"(?:build|settings)\.gradle(?:\.kts)?",
            r"(?:\s*|.*[{;]\s*)(?:url\s*[=(\s]|(?:maven|ivy)\s*(?:\{|\()|flatDir\b)",
        ),
        (r"pom\.xml", r".*<(?:repository|pluginRepository|repositories|pluginRepositories)\b"),
        (r"composer\.json", r"(?:\s*|.*[{,]\s*)\"repositories\"\s*:"),
        (r"build\.sbt", r"\s*(?:ThisBuild\s*/\s*)?(?:resolvers|externalResolvers)\b"),
        (r"Podfile", r"\s*source[\s(]"),
        (r"environment\.ya?ml|pixi\.toml", r"\s*channels\s*[:=]"),
        (
            r"vcpkg-configuration\.json|deno\.jsonc?|pubspec\.yaml",
            r"\s*[\"']?(?:registries|default-registry|hosted)[\"']?\s*:",
        ),
        (
            r"Cargo\.toml",
            r"\s*(?:\[\s*(?:registries|source|patch|replace)\b|.*[{,]\s*registry(?:-index)?\s*=|registry\s*=)",
        ),
    )
)


def concerns(path: str) -> bool:
    """Whether a file of that name is looked at here."""
    return _ATTRIBUTES.fullmatch(path) is not None or any(name.fullmatch(path) for name, _ in _REGISTRIES)


def suspect(path: str, before: bytes | None, after: bytes) -> Iterator[Finding]:
    """What is said of the lines that `after` has and `before` had not."""
    attributes = _ATTRIBUTES.fullmatch(path) is not None
    registry = next((line for name, line in _REGISTRIES if name.fullmatch(path)), None)
    known = set(_lines(before or b""))
    for number, line in enumerate(_lines(after), start=1):
        if line in known:
            continue
        if (
            attributes
            and _HIDES.search(line)
            and not line.lstrip().startswith("#")
            and not _BINARY.match(line.lstrip())
        ):
            text = f"Line {number} of {shown(path)} hides files from review. {_WAY_OUT}"
            yield Finding("hidden_from_review", path, text, number)
        elif registry is not None and registry.match(line):
            text = f"Line {number} of {shown(path)} says where packages come from. {_WAY_OUT}"
            yield Finding("registry", path, text, number)


def _lines(content: bytes) -> list[str]:
    return content.decode("utf-8", "replace").splitlines()
