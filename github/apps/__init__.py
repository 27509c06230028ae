"""The App itself: its manifest, people who sign in, and what they may do."""
