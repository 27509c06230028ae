"""What is told of a failure: the excerpt, a brief for people, its name."""
