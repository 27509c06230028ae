"""the check list of an agent, as it told it last

Revision: 0015
Revises: 0014
"""

import sqlalchemy as sa
from alembic import op

revision = "0015"
down_revision = "0014"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("plan", sa.JSON(), nullable=True))


def downgrade() -> None:
    op.drop_column("turns", "plan")
