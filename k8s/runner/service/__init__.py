"""The way to the service: requests, and the agent's output."""
