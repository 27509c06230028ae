"""Apps, installations, webhooks and people."""
