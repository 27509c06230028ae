"""until when a turn's provider wants to be left alone, as the model gateway was told

Revision: 0016
Revises: 0015
"""

import sqlalchemy as sa
from alembic import op

revision = "0016"
down_revision = "0015"
branch_labels = None
depends_on = None


def upgrade() -> None:
    op.add_column("turns", sa.Column("refused_until", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("turns", "refused_until")
