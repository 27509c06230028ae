"""A session with something of everything, for the pages' tests."""

from typing import Any

from app.web.state import AppState
from loops.store import journal
from loops.store.tables import Effect, Person, Repository, Session, Turn

EVIL = "<script>alert(1)</script><img src=x onerror=alert(1)>&\"'"
DIFF = """diff --git a/src/add.py b/src/add.py
--- a/src/add.py
+++ b/src/add.py
@@ -1,3 +1,3 @@
 def add(a, b):
-    return a - b
+    return a + b  # <b>sum</b>
 
"""


async def seed(shared: AppState, **more: Any) -> int:
    """The session `s_1` of `octo/calculator`, with one turn; its id."""
    async with shared.database.write() as tx:
        tx.add(Person(id=3, login="ann", updated_at=0))
        tx.add(
            Repository(
                id=7, installation_id=5, full_name="octo/calculator", default_branch="main", private=False, updated_at=0
            )
        )
        about: dict[str, Any] = {
            "title": "Sums are wrong",
            "status": "running",
            "created_at": 1_790_000_000.0,
            "branch": "greenloop/4-sums",
            "pull_number": 5,
        } | more
        session = Session(
            public_id="s_1", installation_id=5, repository_id=7, subject_kind="issue", subject_number=4, owner_id=3,
            surface="github", trigger="mention", instruction="fix it", cap=3, **about,
        )  # fmt: skip
        tx.add(session)
        await tx.flush()
        turn = Turn(
            public_id="t_1", session_id=session.id, number=1, kind="issue", trigger="mention", status="done",
            runtime="command", marker="gl-1", created_at=about["created_at"], commit_sha="ab" * 20, input_tokens=12_345,
            result={"diff": DIFF}, started_at=about["created_at"], finished_at=about["created_at"] + 75,
        )  # fmt: skip
        tx.add(turn)
        tx.add(Effect(session_id=session.id, kind="comment", key="sticky", external_id="991", at=0))
        await tx.flush()
        return session.id


async def happen(shared: AppState, session_id: int, *entries: tuple[str, dict[str, Any]], notify: bool = True) -> None:
    """Append events, as a turn or a step would."""
    async with shared.database.write() as tx:
        await journal.append(tx, session_id, entries, at=1_790_000_010.0, turn_id=1)
    if notify:
        shared.bus.notify(f"session:{session_id}")
