"""Times to wait, in the ways in which providers say them."""

from datetime import UTC, datetime, timedelta

import pytest

from loops.runtimes import waits
from loops.runtimes.classify import classify
from loops.runtimes.failures import Told


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("Please try again in 1m20s.", 80),
        ("Please try again in 6m0s.", 360),
        ("try again in 11.054s. Visit https://x", 11.054),
        ("Please retry after 26 seconds. Contact support", 26),
        ("try again in 3 days 4 hours 12 minutes.", 274_320),
        ("please wait 2 minutes and 5 seconds before retrying", 125),
        ("Please retry in 1500ms", 1.5),
        ("try again in 500 milliseconds", 0.5),
        ("Your quota will reset after 18h36m59s", 67_019),
        ("Quota resets after 18h36m", 66_960),
        ("retry_after: 30", 30),
        ("Try again in 60 seconds", 60),
        ("try again in 20", 20),
        ("slow down", None),
        ("try again at 3:45 PM", None),
        ("resets 3pm (UTC)", None),
        ("try again at Dec 3rd, 2026", None),
        ("Retry attempt 3 of 5", None),
        ("Retry your request with the ID 123", None),
        ("waited 5 minutes", None),
        ("resets 3 pm", None),
        ("resets 15 December", None),
        ("resets 3 March", None),
    ],
)
def test_a_time_in_a_sentence(text: str, seconds: float | None) -> None:
    assert waits.said(text) == (pytest.approx(seconds) if seconds is not None else None)


NOW = datetime(2026, 12, 1, 14, 0, tzinfo=UTC)
"""A Tuesday."""


@pytest.mark.parametrize(
    ("text", "until"),
    [
        ("You've hit your limit · resets 3pm (Europe/Berlin)", "2026-12-01T14:00Z"),
        ("5-hour limit reached ∙ resets 4:30pm (Europe/Berlin)", "2026-12-01T15:30Z"),
        ("Your limit will reset at 11 am (America/New_York).", "2026-12-01T16:00Z"),
        ("resets 8pm (America/Argentina/Buenos_Aires)", "2026-12-01T23:00Z"),
        ("resets at 2026-12-01T16:00Z", "2026-12-01T16:00Z"),
        ("Rate limit resets at: 2026-12-01T17:30:00.000+01:00", "2026-12-01T16:30Z"),
        ("Try again after 2026-12-02 03:15:20 UTC", "2026-12-02T03:15:20Z"),
        ("available again on 2026-12-03", "2026-12-03T00:00Z"),
        ("Please try again at 14:05 UTC", "2026-12-01T14:05Z"),
        ("try again at 15:30 (UTC+2).", "2026-12-02T13:30Z"),
        ("try again at 9:00 +0530", "2026-12-02T03:30Z"),
        ("or try again at 3:45 PM.", "2026-12-01T15:45Z"),
        ("try again at Dec 3rd, 2026 3:45 PM.", "2026-12-03T15:45Z"),
        ("quota resets on Dec 3", "2026-12-03T00:00Z"),
        ("resets Dec 3 at 10am (America/Los_Angeles)", "2026-12-03T18:00Z"),
        ("resets Dec 3, 10:30am (Asia/Kolkata)", "2026-12-03T05:00Z"),
        ("Your quota renews on 3 January at 09:00 GMT", "2027-01-03T09:00Z"),
        ("resets on January 3rd", "2027-01-03T00:00Z"),
        ("Quota resets at midnight Pacific Time", "2026-12-02T08:00Z"),
        ("resets at noon ET", "2026-12-01T17:00Z"),
        ("resets tomorrow at 9am", "2026-12-02T09:00Z"),
        ("resets Thursday 9:00", "2026-12-03T09:00Z"),
        ("resets Tue at 13:00", "2026-12-08T13:00Z"),
        ("resets Tuesday, 8pm", "2026-12-01T20:00Z"),
        ("Claude AI usage limit reached|1796148000", "2026-12-01T18:00Z"),
        ("reset: 1796148000000", "2026-12-01T18:00Z"),
        ("retry until Wed, 02 Dec 2026 07:28:00 GMT", "2026-12-02T07:28Z"),
        ("resets 1:55pm", "2026-12-01T14:00Z"),
        ("resets at 2026-11-30T10:00Z", "2026-12-01T14:00Z"),
        ("try again in 20s (resets at 15:00 UTC)", "2026-12-01T14:00:20Z"),
        ("resets 3pm (Mars/Olympus)", None),
        ("resets at 3pm IST", None),
        ("resets Feb 31 at 10am", None),
        ("resets at 25:00", None),
        ("resets at 2027-12-01T00:00Z", None),
        ("resets 3:00:00:00", None),
        ("retry may fail", None),
        ("It stopped at 14:05 UTC", None),
    ],
)
def test_a_day_or_a_time_of_day_in_a_sentence(text: str, until: str | None) -> None:
    wait = waits.said(text, NOW.timestamp())
    assert (None if wait is None else NOW + timedelta(seconds=wait)) == (until and datetime.fromisoformat(until))


def test_hours_shift_with_the_zones_summer_time() -> None:
    for day, seconds in (
        (datetime(2026, 3, 28, 23, tzinfo=UTC), 8 * 3600),
        (datetime(2026, 10, 24, 23, tzinfo=UTC), 9 * 3600),
    ):
        assert waits.said("resets 9am (Europe/Berlin)", day.timestamp()) == seconds


@pytest.mark.parametrize(
    ("answer", "seconds"),
    [
        ('{"error": {"type": "usage_limit_reached", "message": "The usage limit", "resets_at": 1796148000}}', 14_400),
        ('{"error": {"code": 429, "message": "Rate limit exceeded: free-models-per-min", "metadata": {"headers": '
         '{"X-RateLimit-Reset": "1796133660000"}}}}', 60),
        ('{"error": {"code": 429, "message": "exhausted", "status": "RESOURCE_EXHAUSTED", "details": [{"metadata": '
         '{"quotaResetTimeStamp": "2026-12-01T14:20:00Z"}}]}}', 1200),
        ('{"error": {"message": "x", "resets_at": "soon", "metadata": {"headers": []}, "details": [{"metadata": 3}]}}',
         None),
    ],
)  # fmt: skip
def test_a_moment_beside_the_words(answer: str, seconds: float | None) -> None:
    assert classify((), Told(answer, now=NOW.timestamp())).retry_after == seconds


DAY = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("headers", "now", "seconds"),
    [
        ({"Retry-After": "20"}, None, 20),
        ({"retry-after": " 1.5 "}, None, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "2"}, None, 1.5),
        ({"retry-after": DAY, "date": "Wed, 21 Oct 2026 07:27:00 GMT"}, 0.0, 60),
        ({"retry-after": DAY}, 1_792_567_680.0 - 90, 90),
        ({"retry-after": DAY}, 1_792_567_680.0 + 90, 0),
        ({"retry-after": DAY}, None, None),
        ({"retry-after": "soon"}, 0.0, None),
        ({"retry-after": "-5"}, 0.0, None),
        ({"retry-after": "9" * 400}, 0.0, None),
        ({"retry-after-ms": "x"}, 0.0, None),
        ({}, 0.0, None),
    ],
)
def test_a_time_in_headers(headers: dict[str, str], now: float | None, seconds: float | None) -> None:
    assert waits.of_headers(headers, now) == seconds
