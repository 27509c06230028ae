"""What stands around an agent: makes its home and checkout, starts it, and ends everything of a turn."""
