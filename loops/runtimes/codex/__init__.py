"""Codex CLI, OpenAI's agent."""
