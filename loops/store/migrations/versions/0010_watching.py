"""what a pull request's checks are watched for: since when it is ready, where a merge queue tried it

Revision: 0010
Revises: 0009
"""

import sqlalchemy as sa
from alembic import op

revision = "0010"
down_revision = "0009"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("sessions", sa.Column("ready_at", sa.Double(), nullable=True))
    op.add_column("sessions", sa.Column("merge_group", sa.JSON(), nullable=True))


def downgrade() -> None:
    for name in ("merge_group", "ready_at"):
        op.drop_column("sessions", name)
