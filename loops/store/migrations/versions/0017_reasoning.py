"""tokens of output that were thought

Revision: 0017
Revises: 0016
"""

import sqlalchemy as sa
from alembic import op

revision = "0017"
down_revision = "0016"
branch_labels = None
depends_on = None


def upgrade() -> None:
    for name in ("reasoning_tokens", "told_reasoning"):
        op.add_column("turns", sa.Column(name, sa.BigInteger(), server_default="0", nullable=False))


def downgrade() -> None:
    op.drop_column("turns", "told_reasoning")
    op.drop_column("turns", "reasoning_tokens")
