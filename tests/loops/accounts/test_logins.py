"""Which of two versions of a login is kept."""

import base64
import json

import pytest

from loops.accounts.logins import is_newer


def codex(refreshed: str | None, account: str = "a") -> str:
    document = {"tokens": {"refresh_token": "r", "account_id": account}}
    return json.dumps(document | ({"last_refresh": refreshed} if refreshed else {}))


def claude(ends: object) -> str:
    return json.dumps({"claudeAiOauth": {"accessToken": "a", "refreshToken": "r", "expiresAt": ends}})


def opencode(issued: int | None) -> str:
    claims = base64.urlsafe_b64encode(json.dumps({"iat": issued}).encode()).decode().rstrip("=")
    return json.dumps({"openai": {"type": "oauth", "access": f"h.{claims}.s", "refresh": "r", "accountId": "a"}})


NINE, TEN = "2026-11-29T09:00:00.123456789Z", "2026-11-29T10:00:00Z"


@pytest.mark.parametrize(
    ("offered", "stored", "newer"),
    [
        (codex(TEN), codex(NINE), True),
        (codex(NINE), codex(TEN), False),
        (codex(NINE), codex(NINE), False),
        (codex("2026-11-29T11:00:00+02:00"), codex(TEN), False),
        (codex(TEN, "another"), codex(NINE), False),
        (codex(TEN), opencode(1_700_000_000), True),
        (claude(2_000), claude(1_000), True),
        (claude(1_000), claude(2_000), False),
        ("{broken", codex(NINE), False),
        ("[]", codex(NINE), False),
        ("", codex(NINE), False),
    ],
)
@pytest.mark.parametrize("untouched", [True, False])
def test_the_later_refresh_is_the_one_that_still_works(offered: str, stored: str, newer: bool, untouched: bool) -> None:
    assert is_newer(offered, stored, untouched=untouched) is newer


@pytest.mark.parametrize(
    ("offered", "stored"),
    [(codex(None), codex(NINE)), (codex(TEN), codex("yesterday")), (claude(None), claude(1)), (codex(TEN), "no JSON")],
)
def test_where_no_time_is_told_it_counts_whether_somebody_else_has_stored_one(offered: str, stored: str) -> None:
    assert is_newer(offered, stored, untouched=True)
    assert not is_newer(offered, stored, untouched=False)
