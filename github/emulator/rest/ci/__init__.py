"""Checks, statuses, workflow runs."""
