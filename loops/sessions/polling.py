"""How often a head is looked at when no webhook says that anything has changed. Pure.

Webhooks come first, and failed ones are sent again from GitHub's own list: a poll is for what got lost on the way. So
it soon backs off to minutes, and all polls of an installation together stay within a part of what GitHub allows an
hour, however many sessions wait: https://docs.github.com/en/rest/using-the-rest-api/rate-limits-for-the-rest-api
"""

LONGEST = 600.0  # seconds between two polls, where not too many sessions wait
PART = 4.0  # of the time since the last change is waited until the next poll
HOURLY = 2_000  # polls of all sessions of one installation: a query each, and a request that counts once a token


def pause(first: float, idle: float, waiting: int) -> float:
    """Seconds until the next poll of one of `waiting` sessions whose head has not changed for `idle` seconds. `first`
    is the shortest pause."""
    backed_off = min(max(first, idle / PART), max(first, LONGEST))
    return max(backed_off, waiting * 3600.0 / HOURLY)
