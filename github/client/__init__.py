"""Requests to GitHub: one client for each installation, its limits, errors and tokens."""
