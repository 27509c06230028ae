"""What drives a session: one step after the other, from the queue of due rows."""
