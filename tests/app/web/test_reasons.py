"""No surface shows the bare code of a reason: each takes its words from the one catalogue."""

import re
from pathlib import Path

import httpx
import pytest

from app.web.state import AppState
from loops import operations
from loops.runtimes.failures import FailureKind
from loops.sessions.explanations import EXPLANATIONS
from loops.sessions.reasons import Reason
from tests.app.web.pages.seeding import happen, seed
from tests.databases import on_sqlite

ROOT = Path(__file__).parents[3]
DETAIL = "PermissionMissing: GET /repos/octo/secret: needs administration"
CODES = sorted(code for code in EXPLANATIONS if "_" in code)


def shows(text: str, reason: str) -> bool:
    """Whether the code stands in the text as a word of its own."""
    return re.search(rf"(?<![\w/-]){reason}(?![\w-])", text) is not None


def test_every_reason_has_its_words() -> None:
    assert set(EXPLANATIONS) == {*Reason, *FailureKind}
    for reason, told in EXPLANATIONS.items():
        assert told.title and told.what.endswith(".") and told.next.endswith("."), reason
        assert not told.public or "session.failed_step" not in told.operator


@on_sqlite
@pytest.mark.parametrize("reason", CODES)
async def test_the_page_says_it_in_words(http: httpx.AsyncClient, shared: AppState, reason: str) -> None:
    session_id = await seed(shared, status="failed", reason=f"{reason}: {DETAIL}", completed_at=1_790_000_100.0)
    ended = {"status": "failed", "outcome": None, "reason": str(reason), "text": ""}
    await happen(shared, session_id, ("session_ended", ended))
    text = (await http.get("/sessions/s_1")).text
    assert not shows(text, reason)
    assert EXPLANATIONS[reason].what[:-1] in text.replace("&#39;", "'")


@on_sqlite
@pytest.mark.parametrize("reason", sorted(EXPLANATIONS))
async def test_the_operations_tell_programs_the_code_and_people_the_words(shared: AppState, reason: str) -> None:
    await seed(shared, status="failed", reason=str(reason))
    async with shared.database.read() as tx:
        found = await operations.get(tx, 5, "s_1")
    assert found.reason == reason
    assert found.explanation is not None
    assert found.explanation.what == EXPLANATIONS[reason].what


def test_the_page_of_reasons_is_the_catalogue() -> None:
    page = (ROOT / "docs" / "reasons.md").read_text()
    for reason, told in EXPLANATIONS.items():
        said = f"{told.what} {told.next.replace('{handle}', '@greenloop')}"
        row = f"| {told.title} (`{reason}`) | {said} | {told.operator} |"
        assert row in page, f"docs/reasons.md lacks this row:\n{row}"
