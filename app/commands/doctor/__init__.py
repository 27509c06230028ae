"""`greenloop doctor`: what it looks at, and what it says of it."""
