"""What a box asks and reports: who it is, the turn it gets, its output and its result."""
