"""Requests on the wire: connections, conditional requests, retries, limits, and what an answer means."""
