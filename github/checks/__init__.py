"""Checks of a commit: their state, the verdict, their logs, reruns, and our own check run."""
