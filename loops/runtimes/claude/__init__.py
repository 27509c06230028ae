"""Claude Code, Anthropic's agent."""
