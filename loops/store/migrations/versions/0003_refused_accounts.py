"""accounts that their provider refuses for a while, and the turns that wait for them

Revision: 0003
Revises: 0002
"""

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("profiles", sa.Column("fallback", sa.Text(), nullable=True))
    op.add_column("profiles", sa.Column("limited_until", sa.Double(), nullable=True))
    op.add_column("profiles", sa.Column("limited_why", sa.Text(), nullable=True))
    # with defaults of the database: rows of the former release, and its processes that still run, do not name them
    op.add_column("turns", sa.Column("retries", sa.BigInteger(), nullable=False, server_default=sa.text("0")))
    op.add_column("turns", sa.Column("retry_at", sa.Double(), nullable=True))
    op.add_column("turns", sa.Column("afresh", sa.Boolean(), nullable=False, server_default=sa.false()))


def downgrade() -> None:
    for column in ("fallback", "limited_until", "limited_why"):
        op.drop_column("profiles", column)
    for column in ("retries", "retry_at", "afresh"):
        op.drop_column("turns", column)
