"""Names of files by pattern: `*` and `?` within a name, `**` over directories.

Pure, and in quadratic time whatever the pattern is: a regular expression made of it could take for ever.
"""

from collections.abc import Callable, Sequence


def glob_matcher(pattern: str) -> Callable[[str], bool]:
    """Whether a whole relative path, with `/`, is meant by `pattern`. `a/**` means all below `a`."""
    wanted = pattern.removeprefix("./").split("/")
    if wanted[-1] == "**":
        wanted.append("*")
    return lambda path: _match(path.split("/"), wanted, "**", _name_matches)


def named_by(glob: str | None) -> Callable[[str], bool]:
    """Whether a file is meant by `glob`: by its path, or by its name alone."""
    if not glob:
        return lambda path: True
    matches = glob_matcher(glob)
    return lambda path: matches(path) or matches(path.rsplit("/", 1)[-1])


def _name_matches(name: str, pattern: str) -> bool:
    return _match(name, pattern, "*", lambda letter, wanted: wanted in ("?", letter))


def _match(items: Sequence[str], wanted: Sequence[str], many: str, one: Callable[[str, str], bool]) -> bool:
    """Whether `items` are what is `wanted`, where `many` stands for any number of them. Goes back to the last `many`
    alone: those before it have found their first place, which is as good as any later one.
    """
    at = place = 0
    back: tuple[int, int] | None = None
    while at < len(items):
        if place < len(wanted) and wanted[place] == many:
            place += 1
            back = (place, at)
        elif place < len(wanted) and one(items[at], wanted[place]):
            at, place = at + 1, place + 1
        elif back:
            place, at = back[0], back[1] + 1
            back = (place, at)
        else:
            return False
    return all(each == many for each in wanted[place:])
