"""A model server with a script instead of a model: drives the real CLIs in tests and in the demo."""
