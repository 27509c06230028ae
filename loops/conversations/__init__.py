"""Conversations: found, begun, gone on with, watched, withdrawn from and cancelled. All in the caller's transaction."""
