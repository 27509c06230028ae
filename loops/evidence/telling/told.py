"""What the excerpt says before the log's own lines: of the green twin, and of what changed since."""

from collections.abc import Sequence

from loops.evidence.judging.score import Scored
from loops.evidence.passing.news import News
from loops.evidence.passing.twin import Twin
from loops.evidence.passing.versions import differing, versions
from loops.evidence.text.clean import Lines

VERSIONS = 12  # told
MARK = " (the failure names it)"
NAMING = 60.0  # points of a line by which the failure names something


def beside_twin(twin: Twin, news: News, whole: Lines, kept: Lines, scored: Scored) -> list[str]:
    """How much is new against the log that passed, and the versions that differ, those first that the failure names."""
    alike = f", {news.unlike} of them unlike each other" if news.unlike < news.count else ""
    out = [f"Against this job's last passing log: {news.count} of {len(news)} lines are new{alike}."]
    changed = differing(twin.versions, versions(whole.texts))
    if changed:
        named = naming(kept, scored)
        changed.sort(key=lambda each: not _in(each, named))
        listed = [f"{each[0]} {each[1]} -> {each[2]}{MARK if _in(each, named) else ''}" for each in changed]
        more = f", and {len(listed) - VERSIONS} more" if len(listed) > VERSIONS else ""
        out.append(f"Versions that differ from it: {', '.join(listed[:VERSIONS])}{more}")
    return out


def naming(kept: Lines, scored: Scored) -> str:
    """The text of the lines that say what went wrong."""
    return "\n".join(text for text, points in zip(kept.texts, scored.points, strict=True) if points >= NAMING)


def _in(changed: Sequence[str], named: str) -> bool:
    name, _, version = changed
    return name in named or version in named
