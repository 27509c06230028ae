"""The boxes of people: made, counted, queued for, kept warm, and stopped."""
