"""The loop itself: tables, decisions, steps, tasks, prompts, runtimes, caps, vault."""
