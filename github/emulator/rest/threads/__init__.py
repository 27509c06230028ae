"""Issues and pull requests with their comments and reviews."""
