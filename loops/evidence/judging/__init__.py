"""What each line is worth, what kind of failure it is, and which lines are kept."""
