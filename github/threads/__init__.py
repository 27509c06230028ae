"""Conversations: comments, reactions and reviews."""
