"""What the local GitHub remembers: one noun a file, all of it in memory."""
