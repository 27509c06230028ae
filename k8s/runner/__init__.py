"""The runner: runs inside a box, asks the service for turns, runs them and reports. Standard library only."""
