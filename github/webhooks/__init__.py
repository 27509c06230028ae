"""What GitHub tells: signatures, events, and what a comment asks for."""
