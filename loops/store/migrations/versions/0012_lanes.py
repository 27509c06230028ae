"""in which order deliveries are taken, and indexes over just those rows that workers look for

Revision: 0012
Revises: 0011
"""

import sqlalchemy as sa
from alembic import op

revision = "0012"
down_revision = "0011"
branch_labels = None
depends_on = None

WAITS = sa.text("status = 'new' AND lease_until IS NULL")
HELD = sa.text("lease_until IS NOT NULL")


def upgrade() -> None:
    op.add_column("deliveries", sa.Column("lane", sa.SmallInteger(), server_default=sa.text("0"), nullable=False))
    op.add_column("deliveries", sa.Column("about", sa.String(length=64), nullable=True))
    columns = ["lane", "installation_id", "due_at"]
    op.create_index("deliveries_due", "deliveries", columns, sqlite_where=WAITS, postgresql_where=WAITS)
    for table in ("deliveries", "sessions"):
        op.create_index(f"{table}_leased", table, ["lease_until"], sqlite_where=HELD, postgresql_where=HELD)
    op.drop_index("deliveries_open", table_name="deliveries")


def downgrade() -> None:
    op.create_index("deliveries_open", "deliveries", ["status", "due_at"])
    for table in ("sessions", "deliveries"):
        op.drop_index(f"{table}_leased", table_name=table)
    op.drop_index("deliveries_due", table_name="deliveries")
    for name in ("about", "lane"):
        op.drop_column("deliveries", name)
