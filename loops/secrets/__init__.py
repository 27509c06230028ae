"""Secrets: encrypted at rest, given to one turn, and found again in whatever leaves."""
