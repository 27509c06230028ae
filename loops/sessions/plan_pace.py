"""How often people are told what an agent's check list says now. Pure."""

EDIT_SECONDS = 5.0
"""At least between two edits of a comment while its agent works."""
EACH_SECONDS = 1.0
"""For each agent of an installation that is at work: GitHub lets one App write some 80 times a minute."""


def pause(working: int) -> float:
    """Seconds between two edits of a comment, where so many agents of its installation are at work."""
    return max(EDIT_SECONDS, working * EACH_SECONDS)
