"""What a box has to do so that a job's failing step can be tried in it: a workflow's job in, a plan out. Pure."""
