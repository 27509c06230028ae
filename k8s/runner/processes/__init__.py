"""The agent's processes: started, watched, captured, and ended with whatever they left."""
