"""what jobs print while they pass

Revision: 0002
Revises: 0001
"""

import sqlalchemy as sa
from alembic import op

revision = "0002"
down_revision = "0001"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.create_table(
        "passing_logs",
        sa.Column("repository_id", sa.BigInteger(), nullable=False),
        sa.Column("workflow_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(length=300), nullable=False),
        sa.Column("job_id", sa.BigInteger(), nullable=False),
        sa.Column("templates", sa.LargeBinary(), nullable=False),
        sa.Column("fetched_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("repository_id", "workflow_id", "name"),
    )


def downgrade() -> None:
    op.drop_table("passing_logs")
