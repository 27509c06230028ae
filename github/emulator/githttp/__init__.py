"""git over HTTP."""
