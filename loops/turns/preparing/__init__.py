"""A queued turn made ready: admitted, its commit, its agent, its limits, its prompt."""
