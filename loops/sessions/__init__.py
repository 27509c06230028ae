"""A session as rows and as decisions: found, begun, gone on with, decided and ended."""
