"""Times to wait, in the ways in which providers say them."""

import pytest

from loops.runtimes import waits


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
    ],
)
def test_a_time_in_a_sentence(text: str, seconds: float | None) -> None:
    assert waits.said(text) == (pytest.approx(seconds) if seconds is not None else None)


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
