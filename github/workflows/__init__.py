"""Workflow files of GitHub Actions: read, with their expressions, patterns and matrices. Pure."""
