"""The `native` runtime: a small agent loop that runs inside a box. Imports nothing of the service."""
