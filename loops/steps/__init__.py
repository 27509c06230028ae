"""The doing: each step performs one action that was decided, and is safe to run twice."""
