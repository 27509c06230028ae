"""what a turn had changed when it was cut short

Revision: 0014
Revises: 0013
"""

import sqlalchemy as sa
from alembic import op

revision = "0014"
down_revision = "0013"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "unfinished_work",
        sa.Column("turn_id", KEY, autoincrement=False, nullable=False),
        sa.Column("why", sa.Text(), nullable=False),
        sa.Column("patch", sa.LargeBinary(), nullable=False),
        sa.Column("size", sa.BigInteger(), nullable=False),
        sa.Column("files", sa.JSON(), nullable=False),
        sa.Column("left_out", sa.JSON(), nullable=False),
        sa.Column("at", sa.Double(), nullable=False),
        sa.ForeignKeyConstraint(["turn_id"], ["turns.id"]),
        sa.PrimaryKeyConstraint("turn_id"),
    )


def downgrade() -> None:
    op.drop_table("unfinished_work")
