"""Deliveries of GitHub, each turned into one decision: what concerns nobody, wakes a session, or is a request."""
