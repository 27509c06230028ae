"""Any program as the agent."""
