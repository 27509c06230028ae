"""What makes pods, and what scales and protects them."""
