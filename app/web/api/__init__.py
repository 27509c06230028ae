"""/api/v1, for people's own tokens and for the operator's: what may be done to sessions, and by whom."""
