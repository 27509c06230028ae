"""indexes over what grows: pull requests of sessions, sessions by their end and those that are open, boxes by session

Revision: 0013
Revises: 0012
"""

import sqlalchemy as sa
from alembic import op

revision = "0013"
down_revision = "0012"
branch_labels = None
depends_on = None

ENDED = sa.text("completed_at IS NOT NULL")
OPEN = sa.text("status IN ('pending', 'running', 'waiting')")


def upgrade() -> None:
    op.create_index("sessions_pull", "sessions", ["repository_id", "pull_number"])
    op.create_index("sessions_ended", "sessions", ["completed_at", "id"], sqlite_where=ENDED, postgresql_where=ENDED)
    op.create_index("sessions_open", "sessions", ["status"], sqlite_where=OPEN, postgresql_where=OPEN)
    op.create_index("boxes_session", "boxes", ["session_id"])


def downgrade() -> None:
    op.drop_index("boxes_session", table_name="boxes")
    for name in ("sessions_open", "sessions_ended", "sessions_pull"):
        op.drop_index(name, table_name="sessions")
