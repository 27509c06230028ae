"""What people ask for, by words, buttons, labels or the API: who may, and what comes of it."""
