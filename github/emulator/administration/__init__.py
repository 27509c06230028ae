"""What whoever runs the local GitHub does to it: in Python, over HTTP, and as it begins."""
