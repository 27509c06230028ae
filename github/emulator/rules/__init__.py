"""What a repository asks of changes: protection, rulesets, required checks."""
