"""The CI engine: workflows that really run."""
