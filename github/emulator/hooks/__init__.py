"""Webhooks: who gets which event, and their delivery."""
