"""What a repository says of itself: facts, refs, and its own configuration."""
