"""Every HTTP surface: webhooks, the boxes' protocol, API, MCP, pages, sign-in, probes and metrics."""
