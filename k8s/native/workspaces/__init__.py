"""Directories an agent works in: files, searches, edits, commands."""
