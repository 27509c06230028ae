"""How processes are wired: the worker, the embedded Redis, and what web and worker share."""
