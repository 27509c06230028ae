"""tokens of people for the API, what they approved for devices, and keys of calls that are made once

Revision: 0019
Revises: 0018
"""

import sqlalchemy as sa
from alembic import op

revision = "0019"
down_revision = "0018"
branch_labels = None
depends_on = None

KEY = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    op.create_table(
        "personal_tokens",
        sa.Column("id", KEY, nullable=False),
        sa.Column("person_id", sa.BigInteger(), nullable=False),
        sa.Column("name", sa.String(100), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=False),
        sa.Column("token_hash", sa.String(64), nullable=False),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.Column("used_at", sa.Double(), nullable=True),
        sa.Column("revoked_at", sa.Double(), nullable=True),
        sa.PrimaryKeyConstraint("id"),
        sa.UniqueConstraint("token_hash"),
    )
    op.create_index("personal_tokens_person", "personal_tokens", ["person_id"])
    op.create_table(
        "device_approvals",
        sa.Column("code_hash", sa.String(64), nullable=False),
        sa.Column("person_id", sa.BigInteger(), nullable=False),
        sa.Column("login", sa.Text(), nullable=False),
        sa.Column("scopes", sa.JSON(), nullable=True),
        sa.Column("days", sa.BigInteger(), nullable=False),
        sa.Column("expires_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("code_hash"),
    )
    op.create_index("ix_device_approvals_expires_at", "device_approvals", ["expires_at"])
    op.create_table(
        "idempotency_keys",
        sa.Column("caller", sa.String(64), nullable=False),
        sa.Column("key", sa.String(200), nullable=False),
        sa.Column("digest", sa.String(64), nullable=False),
        sa.Column("answer", sa.JSON(), nullable=True),
        sa.Column("created_at", sa.Double(), nullable=False),
        sa.PrimaryKeyConstraint("caller", "key"),
    )
    op.create_index("ix_idempotency_keys_created_at", "idempotency_keys", ["created_at"])
    op.create_index("sessions_owner", "sessions", ["owner_id", "id"])


def downgrade() -> None:
    op.drop_index("sessions_owner", "sessions")
    op.drop_table("idempotency_keys")
    op.drop_table("device_approvals")
    op.drop_table("personal_tokens")
