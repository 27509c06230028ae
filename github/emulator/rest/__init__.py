"""The REST endpoints, one family a file; each file has a `ROUTES` list."""
