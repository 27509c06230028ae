"""One job, really run."""
