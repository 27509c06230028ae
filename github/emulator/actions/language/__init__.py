"""Workflow files: read, with their expressions, patterns and matrices."""
