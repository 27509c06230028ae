"""What people read at GitHub: the status comment, the check run, threads and short answers."""
