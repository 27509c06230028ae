"""The same job when it passed: what it prints then, and what is new since."""
