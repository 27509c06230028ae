"""What can happen, whoever does it: a change of the store and the events it causes."""
