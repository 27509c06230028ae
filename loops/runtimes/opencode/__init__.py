"""OpenCode, an open agent for any provider."""
