"""whose box and account a turn uses, and which repository a box is for

Revision: 0005
Revises: 0004
"""

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("owner_id", sa.BigInteger(), nullable=True))
    op.add_column("boxes", sa.Column("repository_id", sa.BigInteger(), nullable=True))
    # what somebody asked for is theirs; a repair that waits runs as the installation, for nobody looked at its commits
    op.execute("update turns set owner_id = requested_by")


def downgrade() -> None:
    op.drop_column("turns", "owner_id")
    op.drop_column("boxes", "repository_id")
