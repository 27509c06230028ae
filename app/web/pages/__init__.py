"""Pages for people: what a session does, live."""
