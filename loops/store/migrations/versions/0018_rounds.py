"""rounds of a turn whose work did not pass its check

Revision: 0018
Revises: 0017
"""

import sqlalchemy as sa
from alembic import op

revision = "0018"
down_revision = "0017"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("rounds", sa.JSON(), server_default="[]", nullable=False))


def downgrade() -> None:
    op.drop_column("turns", "rounds")
