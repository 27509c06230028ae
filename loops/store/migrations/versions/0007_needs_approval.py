"""whether a fork's commit waits for somebody's approval

Revision: 0007
Revises: 0006
"""

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"
branch_labels = None
depends_on = None


def upgrade() -> None:
    # what was asked for before was allowed by asking
    op.add_column("sessions", sa.Column("needs_approval", sa.Boolean(), server_default=sa.false(), nullable=False))


def downgrade() -> None:
    op.drop_column("sessions", "needs_approval")
