"""What an object has to pass before it is stored."""
