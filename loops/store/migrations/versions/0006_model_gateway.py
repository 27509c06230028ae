"""tokens of turns at the model gateway, what it counted, and who refreshes a login

Revision: 0006
Revises: 0005
"""

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"
branch_labels = None
depends_on = None

COUNTS: tuple[tuple[str, sa.types.TypeEngine[int] | sa.types.TypeEngine[float]], ...] = (
    ("booked", sa.BigInteger()),
    ("told_input", sa.BigInteger()),
    ("told_cached", sa.BigInteger()),
    ("told_output", sa.BigInteger()),
    ("told_cost", sa.Double()),
    ("booked_cost", sa.Double()),
)


def upgrade() -> None:
    op.add_column("turns", sa.Column("model_token", sa.String(length=64), nullable=True))
    for name, kind in COUNTS:
        # with a default of the database: processes of the former release, which still run, do not name it
        op.add_column("turns", sa.Column(name, kind, nullable=False, server_default=sa.text("0")))
    op.add_column("profiles", sa.Column("refreshing_until", sa.Double(), nullable=True))


def downgrade() -> None:
    op.drop_column("profiles", "refreshing_until")
    for name, _ in reversed(COUNTS):
        op.drop_column("turns", name)
    op.drop_column("turns", "model_token")
