"""deliveries, reports and logs that processes fail over, put aside

Revision: 0004
Revises: 0003
"""

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # with a default of the database: rows of the former release, and its processes that still run, do not name it
    op.add_column("deliveries", sa.Column("begun", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
    op.create_table(
        "quarantine",
        sa.Column("id", sa.BigInteger().with_variant(sa.Integer(), "sqlite"), nullable=False),
        sa.Column("kind", sa.String(length=16), nullable=False),
        sa.Column("key", sa.String(length=100), nullable=False),
        sa.Column("reason", sa.Text(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("kind", "key"),
    )
    op.create_index("ix_quarantine_at", "quarantine", ["at"])


def downgrade() -> None:
    op.drop_table("quarantine")
    op.drop_column("deliveries", "begun")
