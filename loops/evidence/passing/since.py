"""What changed between the commit on which a job last passed and the one on which it failed."""

from dataclasses import dataclass

from loops.evidence.text.changed import Changed

COMMITS = 8  # told, the newest
FILES = 40  # told, those first that the failure names
WIDE = 160  # characters of a commit's line or a path
MARK = " (the failure names it)"


@dataclass(frozen=True)
class Since:
    """`sha` is where the job passed, on `branch`; `commits` are lines about those behind it, oldest first."""

    sha: str
    branch: str
    commits: tuple[str, ...] = ()
    files: tuple[str, ...] = ()


def told(since: Since, named: str) -> list[str]:
    """Lines for the head of an excerpt; `named` is what the failure says."""
    out = [f"This job last passed on {since.branch} at {since.sha[:10]}."]
    if since.commits:
        left_out = len(since.commits) - COMMITS
        out.append(f"Commits since then{f' (the newest {COMMITS} of {len(since.commits)})' if left_out > 0 else ''}:")
        out += [f"  {commit[:WIDE]}" for commit in since.commits[-COMMITS:]]
    if since.files:
        marked = [(Changed([file]).favour(named) > 0, file) for file in since.files]
        marked.sort(key=lambda each: not each[0])
        listed = ", ".join(f"{file[:WIDE]}{MARK if is_named else ''}" for is_named, file in marked[:FILES])
        more = f", and {len(marked) - FILES} more" if len(marked) > FILES else ""
        out.append(f"Files changed since then: {listed}{more}")
    return out
