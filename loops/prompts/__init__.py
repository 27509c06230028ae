"""Prompts: one template per kind of turn, everything untrusted fenced and named as data."""
